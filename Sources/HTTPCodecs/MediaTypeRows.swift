/// The data of ``MediaTypeTable/standard``: extensions and their media types.
///
/// An entry is an extension in lower case, a colon, a letter for the type, a slash and the subtype.
/// ``MediaTypeRows/type(of:)`` lists the letters. Entries are sorted by the bytes of their
/// extensions, so that a binary search finds them. No work is done when a program starts.
///
/// Registered types are preferred; `x-` types are used where browsers and players expect them. XML
/// and JSON types have no charset: XML content declares its own, and JSON is always UTF-8.
package enum MediaTypeRows {
    /// The type that a letter stands for.
    package static func type(of letter: UInt8) -> StaticString {
        switch letter {
        case UInt8(ascii: "a"): "application/"
        case UInt8(ascii: "c"): "chemical/"
        case UInt8(ascii: "e"): "message/"
        case UInt8(ascii: "f"): "font/"
        case UInt8(ascii: "i"): "image/"
        case UInt8(ascii: "m"): "model/"
        case UInt8(ascii: "p"): "multipart/"
        case UInt8(ascii: "t"): "text/"
        case UInt8(ascii: "u"): "audio/"
        default: "video/"
        }
    }

    /// All rows, in order.
    package static let texts: [StaticString] = [digitsToL, mToZ]

    private static let digitsToL: StaticString = """
        123:a/vnd.lotus-1-2-3 1clr:a/clr 1km:a/vnd.1000minds.decision-model+xml 210:a/p21
        3dm:t/vnd.in3d.3dml 3dml:t/vnd.in3d.3dml 3ds:i/x-3ds 3g2:v/3gpp2 3gp:v/3gpp 3mf:m/3mf
        3tz:a/vnd.maxar.archive.3tz+zip 726:u/32kadpcm 7z:a/x-7z-compressed a:a/x-archive a2l:a/a2l
        aa3:u/atrac3 aab:a/vnd.android.aab aac:u/aac aal:u/atrac-advanced-lossless
        aax:u/vnd.audible.aax abc:t/vnd.abc abw:a/x-abiword ac:a/pkix-attr-cert
        ac2:a/vnd.banana-accounting ac3:u/ac3 acc:a/vnd.americandynamics.acc accdb:a/x-msaccess
        ace:a/x-ace-compressed acn:u/asc acu:a/vnd.acucobol acutc:a/vnd.acucorp adoc:t/asciidoc
        adts:u/aac aep:a/vnd.audiograph afm:a/x-font-type1 afp:a/vnd.afpc.modca age:a/vnd.age
        ahead:a/vnd.ahead.space ai:a/postscript aif:u/aiff aifc:u/aiff aiff:u/aiff
        aion:a/vnd.veritone.aion+json ait:a/vnd.dvb.ait alc:c/x-alchemy ami:a/vnd.amiga.ami
        aml:a/aml amlx:a/automationml-amlx+zip amr:u/amr anx:a/annodex ape:u/x-ape
        apex:a/vnd.apexlang apexlang:a/vnd.apexlang apk:a/vnd.android.package-archive
        apkg:a/vnd.anki apng:i/apng appcache:t/cache-manifest appimage:a/vnd.appimage
        application:a/x-ms-application appx:a/appx appxbundle:a/appxbundle apr:a/vnd.lotus-approach
        apxml:a/auth-policy+xml ar:a/x-archive arc:a/x-freearc arj:a/x-arj
        arrow:a/vnd.apache.arrow.file arrows:a/vnd.apache.arrow.stream art:i/x-jg
        artisan:a/vnd.artisan+json arw:i/x-sony-arw asc:a/pgp-signature ascii:t/vnd.ascii-art
        asciidoc:t/asciidoc asf:v/x-ms-asf asice:a/vnd.etsi.asic-e+zip asics:a/vnd.etsi.asic-s+zip
        asm:t/x-asm asn:c/x-ncbi-asn1 aso:a/vnd.accpac.simply.aso ass:t/x-ssa asx:v/x-ms-asf
        at3:u/atrac3 atc:a/vnd.acucorp atf:a/atf atfx:a/atfx atom:a/atom+xml atomcat:a/atomcat+xml
        atomdeleted:a/atomdeleted+xml atomsrv:a/atomserv+xml atomsvc:a/atomsvc+xml atx:u/atrac-x
        atxml:a/atxml au:u/basic auc:a/tamp-apex-update-confirm avci:i/avci avcs:i/avcs
        avi:v/x-msvideo avif:i/avif avro:a/vnd.apache.avro awb:u/amr-wb axa:u/annodex axv:v/annodex
        azf:a/vnd.airzip.filesecure.azf azs:a/vnd.airzip.filesecure.azs
        azv:i/vnd.airzip.accelerator.azv azw:a/vnd.amazon.ebook azw3:a/vnd.amazon.mobi8-ebook
        b:c/x-molconn-z b16:i/vnd.pco.b16 bar:a/vnd.qualcomm.brew-app-res bash:t/x-shellscript
        bat:t/x-msdos-batch bcpio:a/x-bcpio bdf:a/x-font-bdf bdm:a/vnd.syncml.dm+wbxml
        bed:a/vnd.realvnc.bed bh2:a/vnd.fujitsu.oasysprs bib:t/x-bibtex bibtex:a/x-bibtex-text-file
        bik:v/vnd.radgamettools.bink bin:a/octet-stream bk2:v/vnd.radgamettools.bink
        bkm:a/vnd.nervana blend:a/x-blender bmed:p/vnd.bint.med-plus bmi:a/vnd.bmi
        bmml:a/vnd.balsamiq.bmml+xml bmp:i/bmp bmpr:a/vnd.balsamiq.bmpr boo:t/x-boo book:a/x-maker
        box:a/vnd.previewsystems.box bpd:a/vnd.hbci br:a/x-brotli brf:t/plain bsd:c/x-crossfire
        bson:a/bson bsp:m/vnd.valve.source.compiled-map btf:i/prs.btif btif:i/prs.btif bz:a/x-bzip
        bz2:a/x-bzip2 c:t/x-c c++:t/x-c c11amc:a/vnd.cluetrust.cartomobile-config
        c11amz:a/vnd.cluetrust.cartomobile-config-pkg c3d:c/x-chem3d c3ex:a/cccex
        c4d:a/vnd.clonk.c4group c4f:a/vnd.clonk.c4group c4g:a/vnd.clonk.c4group
        c4p:a/vnd.clonk.c4group c4u:a/vnd.clonk.c4group c9r:a/vnd.cryptomator.encrypted
        c9s:a/vnd.cryptomator.encrypted cab:a/vnd.ms-cab-compressed cac:c/x-cache cache:c/x-cache
        caf:u/x-caf cap:a/vnd.tcpdump.pcap car:a/vnd.ipld.car carjson:a/vnd.eu.kasparian.car+json
        cascii:c/x-cactvs-binary cat:a/vnd.ms-pki.seccat cb7:a/x-cb7 cbin:c/x-cactvs-binary
        cbor:a/cbor cbr:a/vnd.comicbook-rar cbt:a/x-cbt cbz:a/vnd.comicbook+zip cc:t/x-c
        ccc:t/vnd.net2phone.commcenter.command ccmp:a/ccmp+xml ccxml:a/ccxml+xml cda:a/x-cdf
        cdbcmsg:a/vnd.contact.cmsg cdf:a/x-netcdf cdfx:a/cdfx+xml cdkey:a/vnd.mediastation.cdkey
        cdmia:a/cdmi-capability cdmic:a/cdmi-container cdmid:a/cdmi-domain cdmio:a/cdmi-object
        cdmiq:a/cdmi-queue cdr:i/x-coreldraw cdt:i/x-coreldrawtemplate cdx:c/x-cdx
        cdxml:a/vnd.chemdraw+xml cdy:a/vnd.cinderella cea:a/cea cef:c/x-cxf cellml:a/cellml+xml
        cer:a/pkix-cert cfg:t/plain cgi:a/x-perl cgm:i/cgm chm:a/vnd.ms-htmlhelp
        chrt:a/vnd.kde.kchart cif:a/vnd.multiad.creator.cif
        cii:a/vnd.anser-web-certificate-issue-initiation cil:a/vnd.ms-artgalry cjs:t/javascript
        cl:a/simple-filter+xml cla:a/vnd.claymore class:a/java-vm cld:m/vnd.cld clj:t/x-clojure
        cljc:t/x-clojure cljs:t/x-clojure clkk:a/vnd.crick.clicker.keyboard
        clkp:a/vnd.crick.clicker.palette clkt:a/vnd.crick.clicker.template
        clkw:a/vnd.crick.clicker.wordbank clkx:a/vnd.crick.clicker cls:t/x-tex clue:a/clue_info+xml
        cmake:t/x-cmake cmc:a/vnd.cosmocaller cmd:t/x-msdos-batch cmdf:c/x-cmdf cml:a/cellml+xml
        cmp:a/vnd.yellowriver-custom-menu cmsc:a/cms cnd:t/jcr-cnd cnf:t/plain cod:a/vnd.rim.cod
        coffee:t/coffeescript com:a/x-msdos-program conf:t/plain copyright:t/vnd.debian.copyright
        coswid:a/swid+cbor cpa:c/x-compass cpio:a/x-cpio cpkg:a/vnd.xmpie.cpkg cpl:a/cpl+xml
        cpp:t/x-c cpt:a/mac-compactpro cql:t/cql cr2:i/x-canon-cr2 cr3:i/x-canon-cr3 crl:a/pkix-crl
        crt:a/pkix-cert crtr:a/vnd.multiad.creator crw:i/x-canon-crw crx:a/x-chrome-extension
        cryptomator:a/vnd.cryptomator.vault cryptonote:a/vnd.rig.cryptonote cs:t/x-csharp
        csd:u/csound csf:c/x-cache-csf csh:a/x-csh csl:a/vnd.citationstyles.style+xml csm:c/x-csml
        csml:c/x-csml csp:a/vnd.commonspace csr:a/pkcs10 csrattrs:a/csrattrs css:t/css
        cst:a/vnd.commonspace csv:t/csv csvs:t/csv-schema ctab:c/x-cactvs-binary cts:t/x-typescript
        ctx:c/x-ctx cu:a/cu-seeme cub:c/x-gaussian-cube cuc:a/tamp-community-update-confirm
        cur:i/x-icon curl:t/vnd.curl cw:a/prs.cww cwl:a/cwl cww:a/prs.cww cxf:c/x-cxf cxx:t/x-c
        d:t/x-d dae:m/vnd.collada+xml daf:a/vnd.mobius.daf dart:t/x-dart dataless:a/vnd.fdsn.seed
        davmount:a/davmount+xml dbf:a/vnd.dbf dcd:a/dcd dcm:a/dicom dcr:a/x-director
        dd2:a/vnd.oma.dd2+xml ddd:a/vnd.fujixerox.ddd ddeb:a/vnd.debian.binary-package
        ddf:a/vnd.syncml.dmddf+xml dds:i/vnd.ms-dds deb:a/vnd.debian.binary-package def:t/plain
        deploy:a/octet-stream der:a/x-x509-ca-cert desktop:a/x-desktop dfac:a/vnd.dreamfactory
        dif:v/dv diff:t/plain dii:a/dii dim:a/vnd.fastcopy-disk-image dir:a/x-director
        dis:a/vnd.mobius.dis dist:a/vnd.apple.installer+xml distz:a/vnd.apple.installer+xml
        dit:a/dit dive:a/vnd.patentdive djv:i/vnd.djvu djvu:i/vnd.djvu dl:a/vnd.datalog
        dll:a/x-msdownload dls:u/dls dmg:a/x-apple-diskimage dmp:a/vnd.tcpdump.pcap
        dms:t/vnd.dmclientscript dna:a/vnd.dna dng:i/x-adobe-dng doc:a/msword
        docjson:a/vnd.document+json docm:a/vnd.ms-word.document.macroenabled.12
        docx:a/vnd.openxmlformats-officedocument.wordprocessingml.document dor:m/vnd.gdl
        dot:t/vnd.graphviz dotm:a/vnd.ms-word.template.macroenabled.12
        dotx:a/vnd.openxmlformats-officedocument.wordprocessingml.template dp:a/vnd.osgi.dp
        dpg:a/vnd.dpgraph dpgraph:a/vnd.dpgraph dpkg:a/vnd.xmpie.dpkg dpx:i/dpx
        drawio:a/vnd.jgraph.mxfile drle:i/dicom-rle dsc:t/prs.lines.tag dsf:u/x-dsf
        dsm:a/vnd.desmume.movie dssc:a/dssc+der dta:a/x-stata-dta dtd:a/xml-dtd dts:u/vnd.dts
        dtshd:u/vnd.dts.hd dv:v/dv dvb:v/vnd.dvb.file dvc:a/dvcs dvi:a/x-dvi dwd:a/atsc-dwd+xml
        dwf:m/vnd.dwf dwg:i/vnd.dwg dx:c/x-jcamp-dx dxf:i/vnd.dxf dxp:a/vnd.spotfire.dxp
        dxr:a/x-director dylib:a/x-mach-binary dzr:a/vnd.dzr eac3:u/eac3 ear:a/java-archive
        ebuild:a/vnd.gentoo.ebuild ec3:u/eac3 ecelp4800:u/vnd.nuera.ecelp4800
        ecelp7470:u/vnd.nuera.ecelp7470 ecelp9600:u/vnd.nuera.ecelp9600
        ecig:a/vnd.evolv.ecig.settings ecigprofile:a/vnd.evolv.ecig.profile
        ecigtheme:a/vnd.evolv.ecig.theme eclass:a/vnd.gentoo.eclass edm:a/vnd.novadigm.edm
        edn:t/x-clojure edx:a/vnd.novadigm.edx efi:a/efi efif:a/vnd.picsel ei6:a/vnd.pg.osasli
        el:t/x-emacs-lisp elm:t/x-elm eln:a/vnd.eln+zip emb:c/x-embl-dl-nucleotide
        embl:c/x-embl-dl-nucleotide emf:i/emf eml:e/rfc822 emm:a/vnd.ibm.electronic-media
        emma:a/emma+xml emotionml:a/emotionml+xml ent:a/xml-external-parsed-entity
        entity:a/vnd.nervana env:t/plain enw:u/evrcnw eol:u/vnd.digital-winds
        eot:a/vnd.ms-fontobject ep:a/vnd.bluetooth.ep.oob eps:a/postscript eps2:a/postscript
        eps3:a/postscript epsf:a/postscript epsi:a/postscript epub:a/epub+zip erf:i/x-epson-erf
        erl:t/x-erlang es:t/javascript es3:a/vnd.eszigno3+xml esa:a/vnd.osgi.subsystem
        esf:a/vnd.epson.esf espass:a/vnd.espass-espass+zip et3:a/vnd.eszigno3+xml etx:t/x-setext
        evb:u/evrcb evc:u/evrc evw:u/evrcwb ex:t/x-elixir exe:a/x-msdownload exi:a/exi exp:a/express
        exr:i/x-exr exs:t/x-elixir ext:a/vnd.novadigm.ext ez:a/andrew-inset ez2:a/vnd.ezpix-album
        ez3:a/vnd.ezpix-package f:t/x-fortran f4p:v/x-f4v f4v:v/mp4 f77:t/x-fortran f90:t/x-fortran
        f95:t/x-fortran fb:a/x-maker fb2:a/x-fictionbook+xml fbdoc:a/x-maker fbs:i/vnd.fastbidsheet
        fbx:a/vnd.autodesk.fbx fcdt:a/vnd.adobe.formscentral.fcdt fch:c/x-gaussian-checkpoint
        fchk:c/x-gaussian-checkpoint fcs:a/vnd.isac.fcs fdf:a/fdf fdt:a/fdt+xml
        fe_launch:a/vnd.denovo.fcselayout-link feather:a/vnd.apache.arrow.file
        fg5:a/vnd.fujitsu.oasysgp fig:a/vnd.figma finf:a/fastinfoset fish:t/x-fish fit:i/fits
        fits:i/fits fla:a/vnd.dtg.local.flash flac:u/flac flatpak:a/vnd.flatpak
        flatpakref:a/vnd.flatpak.ref flatpakrepo:a/vnd.flatpak.repo flb:a/vnd.ficlab.flb+zip
        flc:v/x-fli fli:v/x-fli flo:a/vnd.micrografx.flo flt:t/vnd.ficlab.flt flv:v/x-flv
        flw:a/vnd.kde.kivio flx:t/vnd.fmi.flexstor fly:t/vnd.fly fm:a/vnd.framemaker
        fo:a/vnd.software602.filler.form+xml for:t/x-fortran fpx:i/vnd.fpx frag:t/x-glsl
        frame:a/x-maker frm:a/vnd.ufdl fs:t/x-fsharp fsc:a/vnd.fsc.weblaunch fsi:t/x-fsharp
        fst:i/vnd.fst fsx:t/x-fsharp ftc:a/vnd.fluxtime.clip
        fti:a/vnd.anser-web-funds-transfer-initiation fts:i/fits fvt:v/vnd.fvt fxp:a/vnd.adobe.fxp
        fxpl:a/vnd.adobe.fxp fzs:a/vnd.fuzzysheet g2w:a/vnd.geoplan g3w:a/vnd.geospace
        gac:a/vnd.groove-account gal:c/x-gaussian-log gam:c/x-gamess-input gamin:c/x-gamess-input
        gan:a/x-ganttproject gau:c/x-gaussian-input gbr:a/rpki-ghostbusters gcd:t/x-pcs-gcd
        gcf:a/x-graphing-calculator gcg:c/x-gcg8-sequence gcm:a/x-gamecube-rom gdl:m/vnd.gdl
        gdz:a/vnd.familysearch.gedcom+zip ged:t/vnd.familysearch.gedcom gen:c/x-genbank
        genozip:a/vnd.genozip geo:a/vnd.dynageo geojson:a/geo+json geom:t/x-glsl
        gex:a/vnd.geometry-explorer gf:a/x-tex-gf gff3:t/gff3 ggb:a/vnd.geogebra.file
        ggs:a/vnd.geogebra.slides ggt:a/vnd.geogebra.tool ghf:a/vnd.groove-help gif:i/gif
        gim:a/vnd.groove-identity-message gjc:c/x-gaussian-input gjf:c/x-gaussian-input gl:v/gl
        glb:m/gltf-binary glbin:a/gltf-buffer glbuf:a/gltf-buffer glsl:t/x-glsl gltf:m/gltf+json
        gml:a/gml+xml gmo:a/x-gettext-translation gnumeric:a/x-gnumeric go:t/x-go
        gpg:a/pgp-encrypted gph:a/vnd.flographit gpkg:a/geopackage+sqlite3 gpt:c/x-mopac-graph
        gpx:a/gpx+xml gqf:a/vnd.grafeq gql:a/graphql gqs:a/vnd.grafeq gradle:t/x-groovy gram:a/srgs
        graphql:a/graphql grd:a/vnd.gentics.grd+json gre:a/vnd.geometry-explorer groovy:t/x-groovy
        grv:a/vnd.groove-injector grxml:a/srgs+xml gsf:a/x-font-ghostscript
        gsheet:a/urc-grpsheet+xml gsm:u/x-gsm gtar:a/x-gtar gtm:a/vnd.groove-tool-message
        gtw:m/vnd.gtw gv:t/vnd.graphviz gxt:a/vnd.geonext gz:a/gzip h:t/x-c h++:t/x-c h264:v/h264
        h265:v/h265 h5:a/x-hdf5 hal:a/vnd.hal+xml hans:t/vnd.hans har:a/json hbc:a/vnd.hbci
        hbci:a/vnd.hbci hbs:t/x-handlebars-template hdf:a/x-hdf hdf5:a/x-hdf5 hdp:i/vnd.ms-photo
        hdr:i/vnd.radiance hdt:a/vnd.hdt heic:i/heic heics:i/heic-sequence heif:i/heif
        heifs:i/heif-sequence hej2:i/hej2k held:a/atsc-held+xml hgl:t/vnd.hgl hh:t/x-c hif:i/avif
        hin:c/x-hin hpgl:a/vnd.hp-hpgl hpi:a/vnd.hp-hpid hpid:a/vnd.hp-hpid hpp:t/x-c
        hps:a/vnd.hp-hps hpub:a/prs.hpub+zip hqx:a/mac-binhex40 hrl:t/x-erlang hs:t/x-haskell
        hsj2:i/hsj2 hta:a/hta htc:t/x-component htke:a/vnd.kenameaapp htm:t/html html:t/html
        hvd:a/vnd.yamaha.hv-dic hvp:a/vnd.yamaha.hv-voice hvs:a/vnd.yamaha.hv-script hwp:a/x-hwp
        hxx:t/x-c i2g:a/vnd.intergeo ic0:a/vnd.commerce-battelle ic1:a/vnd.commerce-battelle
        ic2:a/vnd.commerce-battelle ic3:a/vnd.commerce-battelle ic4:a/vnd.commerce-battelle
        ic5:a/vnd.commerce-battelle ic6:a/vnd.commerce-battelle ic7:a/vnd.commerce-battelle
        ic8:a/vnd.commerce-battelle ica:a/x-ica icc:a/vnd.iccprofile icd:a/vnd.commerce-battelle
        icf:a/vnd.commerce-battelle icm:a/vnd.iccprofile ico:i/x-icon ics:t/calendar ief:i/ief
        ifb:t/calendar ifc:a/p21 ifm:a/vnd.shana.informed.formdata iges:m/iges igl:a/vnd.igloader
        igm:a/vnd.insors.igm ign:a/vnd.coreos.ignition+json ignition:a/vnd.coreos.ignition+json
        igs:m/iges igx:a/vnd.micrografx.igx iif:a/vnd.shana.informed.interchange iii:a/x-iphone
        imf:a/vnd.imagemeter.folder+zip img:a/octet-stream imgcal:a/vnd.3lightssoftware.imagescal
        imi:a/vnd.imagemeter.image+zip imp:a/vnd.accpac.simply.imp ims:a/vnd.ms-ims
        imscc:a/vnd.ims.imsccv1p1 in:t/plain indd:a/x-indesign info:a/x-info ini:t/plain
        ink:a/inkml+xml inkml:a/inkml+xml inl:t/x-c inp:c/x-gamess-input ins:a/x-internet-signup
        iota:a/vnd.astraea-software.iota ipa:a/octet-stream ipfix:a/ipfix
        ipk:a/vnd.shana.informed.package ipynb:a/x-ipynb+json irm:a/vnd.ibm.rights-management
        irp:a/vnd.irepository.package+xml ism:m/vnd.gdl iso:a/x-iso9660-image
        isp:a/x-internet-signup ist:c/x-isostar istc:a/vnd.veryant.thin istr:c/x-isostar
        isws:a/vnd.veryant.thin it:u/x-mod itp:a/vnd.shana.informed.formtemplate its:a/its+xml
        ivp:a/vnd.immervision-ivp ivu:a/vnd.immervision-ivu jad:t/vnd.sun.j2me.app-descriptor
        jam:a/vnd.jam jar:a/java-archive java:t/x-java-source jdx:c/x-jcamp-dx jfif:i/jpeg
        jhc:i/jphc jisp:a/vnd.jisp jks:a/x-java-keystore jl:t/x-julia jls:i/jls jlt:a/vnd.hp-jlyt
        jmz:a/x-jmol jng:i/x-jng jnlp:a/x-java-jnlp-file joda:a/vnd.joost.joda-archive jp2:i/jp2
        jpe:i/jpeg jpeg:i/jpeg jpf:i/jpx jpg:i/jpeg jpg2:i/jp2 jpgm:i/jpm jpgv:v/jpeg jph:i/jph
        jphc:i/jphc jpm:i/jpm jpx:i/jpx jrd:a/jrd+json js:t/javascript json:a/json
        json-patch:a/json-patch+json json5:a/json5 jsonl:a/x-ndjson jsonld:a/ld+json
        jsontd:a/td+json jsontm:a/tm+json jsp:a/x-httpd-jsp jsx:t/jsx jt:m/jt
        jtd:t/vnd.esmertec.theme-descriptor jxl:i/jxl jxr:i/jxr jxra:i/jxra jxrs:i/jxrs jxs:i/jxs
        jxsc:i/jxsc jxsi:i/jxsi jxss:i/jxss kar:u/midi karbon:a/vnd.kde.karbon kcm:a/vnd.nervana
        kdbx:a/x-keepass2 key:a/vnd.apple.keynote keynote:a/vnd.apple.keynote kfo:a/vnd.kde.kformula
        kia:a/vnd.kidspiration kil:a/x-killustrator kin:c/x-kinemage kml:a/vnd.google-earth.kml+xml
        kmz:a/vnd.google-earth.kmz kne:a/vnd.kinar knp:a/vnd.kinar kom:a/vnd.hbci
        kon:a/vnd.kde.kontour koz:u/vnd.audiokoz kpr:a/vnd.kde.kpresenter kpt:a/vnd.kde.kpresenter
        kra:a/x-krita ksp:a/vnd.kde.kspread kt:t/x-kotlin ktr:a/vnd.kahootz kts:t/x-kotlin ktx:i/ktx
        ktx2:i/ktx2 ktz:a/vnd.kahootz kwd:a/vnd.kde.kword kwt:a/vnd.kde.kword l16:u/l16
        las:a/vnd.las lasjson:a/vnd.las.las+json lasxml:a/vnd.las.las+xml latex:a/x-latex lbc:u/ilbc
        lbd:a/vnd.llamagraphics.life-balance.desktop
        lbe:a/vnd.llamagraphics.life-balance.exchange+xml lca:a/vnd.logipipe.circuit+zip
        lcs:a/vnd.logipipe.circuit+zip le:a/vnd.bluetooth.le.oob les:a/vnd.hhe.lesson-player
        less:t/x-less lgr:a/lgr+xml lha:a/x-lzh-compressed lhs:t/x-literate-haskell
        lhzd:a/vnd.belightsoft.lhzd+zip lhzl:a/vnd.belightsoft.lhzl+zip lin:a/bbolin
        line:a/vnd.nebumind.line link66:a/vnd.route66.link66+xml lisp:t/x-common-lisp list:t/plain
        list3820:a/vnd.afpc.modca listafp:a/vnd.afpc.modca lmp:m/vnd.gdl lnk:a/x-ms-shortcut
        loas:u/usac lock:t/plain log:t/plain loom:a/vnd.loom lostsyncxml:a/lostsync+xml
        lostxml:a/lost+xml lpf:a/lpf+zip lrm:a/vnd.ms-lrm lsf:v/x-la-asf lsp:t/x-common-lisp
        lsx:v/x-la-asf ltx:t/x-tex lua:t/x-lua lvp:u/vnd.lucent.voice lwp:a/vnd.lotus-wordpro
        lxf:a/lxf ly:t/x-lilypond lyx:a/x-lyx lz:a/x-lzip lz4:a/x-lz4 lzh:a/x-lzh-compressed
        lzma:a/x-lzma lzo:a/x-lzop lzx:a/x-lzx
        """
}
