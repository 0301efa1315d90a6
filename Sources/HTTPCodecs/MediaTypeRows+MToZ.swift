extension MediaTypeRows {
    /// The entries from `m` on.
    static let mToZ: StaticString = """
        m:t/x-objective-c m1v:v/mpeg m21:a/mp21 m2a:u/mpeg m2t:v/mp2t m2ts:v/mp2t m2v:v/mpeg
        m3a:u/mpeg m3g:a/m3g m3u:u/x-mpegurl m3u8:a/vnd.apple.mpegurl m4a:u/mp4 m4b:u/mp4 m4p:u/mp4
        m4r:u/mp4 m4s:v/iso.segment m4u:v/vnd.mpegurl m4v:v/mp4 ma:a/mathematica mads:a/mads+xml
        maei:a/mmt-aei+xml mag:a/vnd.ecowin.chart mail:e/rfc822 mak:t/x-makefile maker:a/x-maker
        man:t/troff manifest:t/cache-manifest map:a/json markdown:t/markdown mat:a/x-matlab-data
        matlab:t/x-matlab mb:a/mathematica mbk:a/vnd.mobius.mbk mbox:a/mbox mc1:a/vnd.medcalcdata
        mc2:t/vnd.senx.warpscript mcd:a/vnd.mcd mcif:c/x-mmcif mcm:c/x-macmolecule md:t/markdown
        mdb:a/x-msaccess mdc:a/vnd.marlin.drm.mdcf mdi:i/vnd.ms-modi mdx:t/mdx me:t/troff
        mesh:m/mesh meta4:a/metalink4+xml mets:a/mets+xml mf4:a/mf4 mfm:a/vnd.mfmp
        mft:a/rpki-manifest mgp:a/vnd.osgeo.mapguide.package mgz:a/vnd.proteus.magazine mhas:u/mhas
        mht:e/rfc822 mhtml:e/rfc822 mid:u/midi midi:u/midi mif:a/vnd.mif miz:t/mizar mj2:v/mj2
        mjp2:v/mj2 mjs:t/javascript mk:t/x-makefile mk3d:v/x-matroska mka:u/x-matroska
        mks:v/x-matroska mkv:v/x-matroska ml:t/x-ocaml ml2:a/vnd.sybyl.mol2 mli:t/x-ocaml
        mlp:u/vnd.dolby.mlp mm:t/x-objective-c++ mmd:a/vnd.chipnuts.karaoke-mmd
        mmdb:a/vnd.maxmind.maxmind-db mmf:a/vnd.smaf mml:a/mathml+xml mmod:c/x-macromodel-input
        mmr:i/vnd.fujixerox.edmics-mmr mng:v/x-mng mo:a/x-gettext-translation
        mobi:a/x-mobipocket-ebook mobileconfig:a/x-apple-aspen-config moc:t/x-moc mod:u/x-mod
        model-inter:a/vnd.vd-study mods:a/mods+xml mol:c/x-mdl-molfile mol2:a/vnd.sybyl.mol2
        moml:m/vnd.moml+xml moo:c/x-mopac-out mop:c/x-mopac-input mopcrt:c/x-mopac-input
        mov:v/quicktime movie:v/x-sgi-movie mp1:u/mpeg mp2:u/mpeg mp21:a/mp21 mp2a:u/mpeg mp3:u/mpeg
        mp4:v/mp4 mp4v:v/mp4 mpc:a/vnd.mophun.certificate mpd:a/dash+xml mpdd:a/dashdelta mpe:v/mpeg
        mpeg:v/mpeg mpega:u/mpeg mpf:t/vnd.ms-mediapackage mpg:v/mpeg mpg4:v/mp4 mpga:u/mpeg
        mph:a/x-comsol mpk:a/x-msgpack mpkg:a/vnd.apple.installer+xml mpm:a/vnd.blueice.multipass
        mpn:a/vnd.mophun.application mpp:a/vnd.ms-project mpt:a/vnd.ms-project mpv:v/x-matroska
        mpw:a/vnd.exstream-empower+zip mpy:a/vnd.ibm.minipay mqy:a/vnd.mobius.mqy mrc:a/marc
        mrcx:a/marcxml+xml ms:t/troff msa:a/vnd.msa-disk-image msd:a/vnd.fdsn.mseed
        mseed:a/vnd.fdsn.mseed mseq:a/vnd.mseq msf:a/vnd.epson.msf msg:a/vnd.ms-outlook
        msgpack:a/x-msgpack msh:m/mesh msi:a/x-msi msix:a/msix msixbundle:a/msixbundle
        msl:a/vnd.mobius.msl msm:m/vnd.gdl msp:a/octet-stream msty:a/vnd.muvee.style
        msu:a/octet-stream mtl:m/mtl mts:v/mp2t multitrack:u/vnd.presonus.multitrack
        mus:a/vnd.musician musd:a/mmt-usd+xml mvb:c/x-mopac-vib mvt:a/vnd.mapbox-vector-tile
        mwc:a/vnd.dpgraph mwf:a/vnd.mfer mxf:a/mxf mxi:a/vnd.vd-study mxl:a/vnd.recordare.musicxml
        mxmf:u/mobile-xmf mxml:a/xv+xml mxs:a/vnd.triscape.mxs mxu:v/vnd.mpegurl mysql:a/x-sql
        n3:t/n3 nb:a/vnd.wolfram.mathematica nbp:a/vnd.wolfram.player nc:a/x-netcdf
        ndc:a/vnd.osa.netdeploy ndjson:a/x-ndjson ndl:a/vnd.lotus-notes nds:a/vnd.nintendo.nitro.rom
        nebul:a/vnd.nebumind.line nef:i/x-nikon-nef nes:a/x-nintendo-nes-rom nfo:t/x-nfo
        ngdat:a/vnd.nokia.n-gage.data nim:t/x-nim nimn:a/vnd.nimn nitf:a/vnd.nitf nix:t/x-nix
        nlu:a/vnd.neurolanguage.nlu nml:a/vnd.enliven nnd:a/vnd.noblenet-directory
        nns:a/vnd.noblenet-sealer nnw:a/vnd.noblenet-web notebook:a/vnd.smart.notebook nq:a/n-quads
        nrw:i/x-nikon-nef ns2:a/vnd.lotus-notes ns3:a/vnd.lotus-notes ns4:a/vnd.lotus-notes
        nsf:a/vnd.lotus-notes nsg:a/vnd.lotus-notes nsh:a/vnd.lotus-notes nt:a/n-triples
        ntf:a/vnd.lotus-notes numbers:a/vnd.apple.numbers nwc:a/x-nwc o:a/x-object
        oa2:a/vnd.fujitsu.oasys2 oa3:a/vnd.fujitsu.oasys3 oas:a/vnd.fujitsu.oasys
        obg:a/vnd.openblox.game-binary obgx:a/vnd.openblox.game+xml obj:m/obj oda:a/oda
        odb:a/vnd.oasis.opendocument.base odc:a/vnd.oasis.opendocument.chart odd:a/tei+xml
        odf:a/vnd.oasis.opendocument.formula odg:a/vnd.oasis.opendocument.graphics
        odi:a/vnd.oasis.opendocument.image odm:a/vnd.oasis.opendocument.text-master
        odp:a/vnd.oasis.opendocument.presentation ods:a/vnd.oasis.opendocument.spreadsheet
        odt:a/vnd.oasis.opendocument.text odx:a/odx oeb:a/vnd.openeye.oeb oga:u/ogg
        ogex:m/vnd.opengex ogg:u/ogg ogv:v/ogg ogx:a/ogg omg:u/atrac3 one:a/onenote onepkg:a/onenote
        onetmp:a/onenote onetoc:a/onenote onetoc2:a/onenote opf:a/oebps-package+xml opml:t/x-opml
        oprc:a/vnd.palm opus:u/opus or2:a/vnd.lotus-organizer or3:a/vnd.lotus-organizer orc:u/csound
        orf:i/x-olympus-orf org:t/x-org orq:a/ocsp-request ors:a/ocsp-response
        osf:a/vnd.yamaha.openscoreformat osm:a/vnd.openstreetmap.data+xml ota:a/vnd.android.ota
        otc:a/vnd.ms-opentype otf:f/otf otg:a/vnd.oasis.opendocument.graphics-template
        oth:a/vnd.oasis.opendocument.text-web oti:a/vnd.oasis.opendocument.image-template
        otp:a/vnd.oasis.opendocument.presentation-template
        ots:a/vnd.oasis.opendocument.spreadsheet-template ott:a/vnd.oasis.opendocument.text-template
        ova:a/x-virtualbox-ova ovf:a/x-virtualbox-ovf ovl:a/vnd.afpc.modca-overlay
        oxlicg:a/vnd.oxli.countgraph oxps:a/oxps oxt:a/vnd.openofficeorg.extension
        oza:a/x-oz-application p:t/x-pascal p10:a/pkcs10 p12:a/x-pkcs12 p21:a/p21 p2p:a/vnd.wfa.p2p
        p7b:a/x-pkcs7-certificates p7c:a/pkcs7-mime p7m:a/pkcs7-mime p7r:a/x-pkcs7-certreqresp
        p7s:a/pkcs7-signature p7z:a/pkcs7-mime p8:a/pkcs8 p8e:a/pkcs8-encrypted
        pac:a/x-ns-proxy-autoconfig package:a/vnd.autopackage pages:a/vnd.apple.pages
        parquet:a/vnd.apache.parquet pas:t/x-pascal pat:i/x-coreldrawpattern patch:t/plain
        paw:a/vnd.pawaafile pbd:a/vnd.powerbuilder6 pbm:i/x-portable-bitmap pcap:a/vnd.tcpdump.pcap
        pcf:a/x-font-pcf pcl:a/vnd.hp-pcl pct:i/x-pict pcx:i/x-pcx pdb:a/vnd.palm pdf:a/pdf
        pdx:a/pdx pef:i/x-pentax-pef pem:a/pem-certificate-chain pfa:a/x-font-type1
        pfb:a/x-font-type1 pfm:a/x-font-type1 pfr:a/font-tdpfr pfx:a/x-pkcs12
        pgb:i/vnd.globalgraphics.pgb pgm:i/x-portable-graymap pgn:a/vnd.chess-pgn
        pgp:a/pgp-encrypted php:a/x-httpd-php phtml:a/x-httpd-php pic:i/x-pict pict:i/x-pict
        pil:a/vnd.piaccess.application-licence pk:a/x-tex-pk pkd:a/vnd.hbci pkg:a/octet-stream
        pki:a/pkixcmp pkipath:a/pkix-pkipath pkpass:a/vnd.apple.pkpass pl:t/x-perl
        plb:a/vnd.3gpp.pic-bw-large plc:a/vnd.mobius.plc plf:a/vnd.pocketlearn plist:a/x-plist
        plj:u/vnd.everad.plj plp:a/vnd.panoply pls:u/x-scpls ply:m/ply pm:t/x-perl
        pml:a/vnd.ctc-posml png:i/png pnm:i/x-portable-anymap po:t/x-gettext-translation
        portpkg:a/vnd.macports.portpkg pot:t/x-gettext-translation
        potm:a/vnd.ms-powerpoint.template.macroenabled.12
        potx:a/vnd.openxmlformats-officedocument.presentationml.template
        ppam:a/vnd.ms-powerpoint.addin.macroenabled.12 ppd:a/vnd.cups-ppd ppkg:a/vnd.xmpie.ppkg
        ppm:i/x-portable-pixmap pps:a/vnd.ms-powerpoint
        ppsm:a/vnd.ms-powerpoint.slideshow.macroenabled.12
        ppsx:a/vnd.openxmlformats-officedocument.presentationml.slideshow ppt:a/vnd.ms-powerpoint
        pptm:a/vnd.ms-powerpoint.presentation.macroenabled.12 ppttc:a/vnd.think-cell.ppttc+json
        pptx:a/vnd.openxmlformats-officedocument.presentationml.presentation pqa:a/vnd.palm
        prc:a/x-mobipocket-ebook pre:a/vnd.lotus-freelance preminet:a/vnd.preminet prf:a/pics-rules
        properties:t/plain proto:t/x-protobuf provn:t/provenance-notation provx:a/provenance+xml
        prt:c/x-ncbi-asn1-ascii prz:a/vnd.lotus-freelance ps:a/postscript ps1:t/x-powershell
        psb:a/vnd.3gpp.pic-bw-small psd:i/vnd.adobe.photoshop psd1:t/x-powershell
        pseg3820:a/vnd.afpc.modca psf:a/x-font-linux-psf psfs:a/vnd.psfs
        psg:a/vnd.afpc.modca-pagesegment psid:u/prs.sid pskcxml:a/pskc+xml psm1:t/x-powershell
        pst:a/vnd.ms-outlook pt:a/vnd.snesdev-page-table pti:i/prs.pti ptid:a/vnd.pvi.ptid1
        ptrom:a/vnd.snesdev-page-table pub:a/x-mspublisher pvb:a/vnd.3gpp.pic-bw-var
        pwn:a/vnd.3m.post-it-notes py:t/x-python pya:u/vnd.ms-playready.media.pya
        pyc:a/x-python-code pyo:a/x-python-code pyox:m/vnd.pytha.pyox
        pyv:v/vnd.ms-playready.media.pyv qam:a/vnd.epson.quickanime qbo:a/vnd.intu.qbo
        qca:a/vnd.ericsson.quickcall qcall:a/vnd.ericsson.quickcall qcow:a/x-qemu-disk
        qcow2:a/x-qemu-disk qcp:u/evrc-qcp qfx:a/vnd.intu.qfx qgs:a/x-qgis qgz:a/x-qgis qoi:i/qoi
        qps:a/vnd.publishare-delta-tree qt:v/quicktime qtl:a/x-quicktimeplayer
        quiz:a/vnd.quobject-quoxdocument quox:a/vnd.quobject-quoxdocument qvd:a/vnd.theqvd
        qwd:a/vnd.quark.quarkxpress qwt:a/vnd.quark.quarkxpress qxb:a/vnd.quark.quarkxpress
        qxd:a/vnd.quark.quarkxpress qxl:a/vnd.quark.quarkxpress qxt:a/vnd.quark.quarkxpress r:t/x-r
        ra:u/x-pn-realaudio raf:i/x-fuji-raf ram:u/x-pn-realaudio rapd:a/route-apd+xml rar:a/vnd.rar
        ras:i/x-cmu-raster rb:t/x-ruby rc:t/plain rcprofile:a/vnd.ipunplugged.rcprofile
        rct:a/prs.nprend rd:c/x-mdl-rdfile rda:a/x-r-data rdata:a/x-r-data rdf:a/rdf+xml
        rdf-crypt:a/prs.rdf-xml-crypt rdp:a/x-rdp rds:a/x-r-data rdz:a/vnd.data-vision.rdz
        relo:a/p2p-overlay+xml reload:a/vnd.resilient.logic rep:a/vnd.businessobjects
        request:a/vnd.nervana rfcxml:a/rfc+xml rgb:i/x-rgb rgbe:i/vnd.radiance rif:a/reginfo+xml
        rip:u/vnd.rip rl:a/resource-lists+xml rlc:i/vnd.fujixerox.edmics-rlc
        rld:a/resource-lists-diff+xml rlm:a/vnd.resilient.logic rm:a/vnd.rn-realmedia rmi:u/midi
        rms:a/vnd.jcp.javame.midlet-rms rmvb:a/vnd.rn-realmedia-vbr rnc:a/relax-ng-compact-syntax
        rnd:a/prs.nprend rng:a/xml roa:a/rpki-roa roff:t/troff ros:c/x-rosdal rp9:a/vnd.cloanto.rp9
        rpm:a/x-rpm rpss:a/vnd.nokia.radio-presets rpst:a/vnd.nokia.radio-preset rq:a/sparql-query
        rs:t/x-rust rsat:a/atsc-rsat+xml rsheet:a/urc-ressheet+xml rsm:m/vnd.gdl rss:a/rss+xml
        rst:t/x-rst rtf:a/rtf rtx:t/richtext rusd:a/route-usd+xml rv:v/vnd.rn-realvideo
        rw2:i/x-panasonic-rw2 rxn:c/x-mdl-rxnfile rxt:a/vnd.medicalholodeck.recordxr s:t/x-asm
        s11:v/vnd.sealed.mpeg1 s14:v/vnd.sealed.mpeg4 s1a:a/vnd.sealedmedia.softseal.pdf
        s1e:a/vnd.sealed.xls s1g:i/vnd.sealedmedia.softseal.gif s1h:a/vnd.sealedmedia.softseal.html
        s1j:i/vnd.sealedmedia.softseal.jpg s1m:u/vnd.sealedmedia.softseal.mpeg s1n:i/vnd.sealed.png
        s1p:a/vnd.sealed.ppt s1q:v/vnd.sealedmedia.softseal.mov s1w:a/vnd.sealed.doc
        s3df:a/vnd.sealed.3df s3m:u/x-mod sac:a/tamp-sequence-adjust-confirm
        saf:a/vnd.yamaha.smaf-audio sam:a/vnd.lotus-wordpro sar:a/vnd.sar sarif:a/sarif+json
        sas:a/x-sas sass:t/x-sass sav:a/x-spss-sav sc:a/vnd.ibm.secure-container scala:t/x-scala
        scd:a/vnd.scribus sce:a/vnd.etsi.asic-e+zip sci:a/x-scilab scim:a/scim+json
        scl:a/vnd.sycle+xml scld:a/vnd.doremir.scorecloud-binary-document scm:t/x-scheme
        sco:u/csound scq:a/scvp-cv-request scr:a/x-silverlight scs:a/scvp-cv-response
        scsf:a/vnd.sealed.csf scss:t/x-scss sd:c/x-mdl-sdfile sd2:u/x-sd2
        sda:a/vnd.stardivision.draw sdc:a/vnd.stardivision.calc sdd:a/vnd.stardivision.impress
        sdf:a/vnd.kinar sdkd:a/vnd.solent.sdkm+xml sdkm:a/vnd.solent.sdkm+xml sdo:a/vnd.sealed.doc
        sdoc:a/vnd.sealed.doc sdp:a/sdp sds:a/vnd.stardivision.chart sdw:a/vnd.stardivision.writer
        see:a/vnd.seemail seed:a/vnd.fdsn.seed sem:a/vnd.sealed.eml sema:a/vnd.sema semd:a/vnd.semd
        semf:a/vnd.semf seml:a/vnd.sealed.eml senml:a/senml+json senml-etchc:a/senml-etch+cbor
        senml-etchj:a/senml-etch+json senmlc:a/senml+cbor senmle:a/senml-exi senmlx:a/senml+xml
        sensml:a/sensml+json sensmlc:a/sensml+cbor sensmle:a/sensml-exi sensmlx:a/sensml+xml
        ser:a/java-serialized-object sfc:a/vnd.nintendo.snes.rom sfd:a/vnd.font-fontforge-sfd
        sfd-hdstx:a/vnd.hydrostatix.sof-data sfs:a/vnd.spotfire.sfs sfv:t/x-sfv sgf:a/x-go-sgf
        sgi:i/vnd.sealedmedia.softseal.gif sgif:i/vnd.sealedmedia.softseal.gif
        sgl:a/vnd.stardivision.writer-global sgm:t/sgml sgml:t/sgml sh:t/x-shellscript
        shaclc:t/shaclc shar:a/x-shar shc:t/shaclc shex:t/shex shf:a/shf+xml shp:a/x-shapefile
        shtml:t/html shx:a/vnd.shx si:t/vnd.wap.si sic:a/vnd.wap.sic sid:i/x-mrsid-image
        sieve:a/sieve sig:a/pgp-signature silo:m/mesh sis:a/vnd.symbian.install sit:a/x-stuffit
        sitx:a/x-stuffitx siv:a/sieve sjp:i/vnd.sealedmedia.softseal.jpg
        sjpg:i/vnd.sealedmedia.softseal.jpg skd:a/vnd.koan sketch:a/vnd.sketch skm:a/vnd.koan
        skp:a/vnd.koan skt:a/vnd.koan sl:t/vnd.wap.sl sla:a/vnd.scribus slaz:a/vnd.scribus
        slc:a/vnd.wap.slc sldm:a/vnd.ms-powerpoint.slide.macroenabled.12
        sldx:a/vnd.openxmlformats-officedocument.presentationml.slide sls:a/route-s-tsid+xml
        slt:a/vnd.epson.salt sm:a/vnd.stepmania.stepchart smc:a/vnd.nintendo.snes.rom
        smf:a/vnd.stardivision.math smh:a/vnd.sealed.mht smht:a/vnd.sealed.mht smi:a/smil+xml
        smil:a/smil+xml smk:v/vnd.radgamettools.smacker sml:a/smil+xml
        smo:v/vnd.sealedmedia.softseal.mov smov:v/vnd.sealedmedia.softseal.mov
        smp:u/vnd.sealedmedia.softseal.mpeg smp3:u/vnd.sealedmedia.softseal.mpeg
        smpg:v/vnd.sealed.mpeg1 sms:a/vnd.3gpp2.sms smv:v/x-smv smzip:a/vnd.stepmania.package
        snap:a/vnd.snap snd:u/basic snf:a/x-font-snf so:a/x-sharedlib soa:t/dns
        soc:a/sgml-open-catalog sofa:u/sofa sos:t/vnd.sosi spc:a/x-pkcs7-certificates
        spd:a/vnd.sealedmedia.softseal.pdf spdf:a/vnd.sealedmedia.softseal.pdf spdx:t/spdx
        spf:a/vnd.yamaha.smaf-phrase spl:a/futuresplash spn:i/vnd.sealed.png spng:i/vnd.sealed.png
        spo:t/vnd.in3d.spot spot:t/vnd.in3d.spot spp:a/scvp-vp-response sppt:a/vnd.sealed.ppt
        spq:a/scvp-vp-request spx:u/ogg sql:a/sql sqlite:a/vnd.sqlite3 sqlite3:a/vnd.sqlite3
        sr:a/vnd.sigrok.session src:a/x-wais-source srt:t/plain sru:a/sru+xml srw:i/x-samsung-srw
        srx:a/sparql-results+xml ss:t/x-scheme ssa:t/x-ssa sse:a/vnd.kodak-descriptor
        ssf:a/vnd.epson.ssf ssml:a/ssml+xml ssv:a/vnd.shade-save-file ssvc:a/vnd.crypto-shade-file
        ssw:v/vnd.sealed.swf sswf:v/vnd.sealed.swf st:a/vnd.sailingtracker.track
        stc:a/vnd.sun.xml.calc.template std:a/vnd.sun.xml.draw.template step:m/step stf:a/vnd.wt.stf
        sti:a/vnd.sun.xml.impress.template stif:a/vnd.sealed.tiff stix:a/stix+json stk:a/hyperstudio
        stl:m/stl stml:a/vnd.sealedmedia.softseal.html stp:m/step stpnc:a/p21 stpx:m/step+xml
        stpxz:m/step-xml+zip stpz:m/step+zip str:a/vnd.pg.format study-inter:a/vnd.vd-study
        stw:a/vnd.sun.xml.writer.template sty:t/x-tex styl:t/x-stylus sub:a/x-subrip
        sus:a/vnd.sus-calendar susp:a/vnd.sus-calendar sv:t/x-systemverilog sv4cpio:a/x-sv4cpio
        sv4crc:a/x-sv4crc svc:a/vnd.dvb.service svelte:t/x-svelte svg:i/svg+xml svgz:i/svg+xml
        svh:t/x-systemverilog sw:c/x-swissprot swf:a/x-shockwave-flash swi:a/vnd.aristanetworks.swi
        swidtag:a/swid+xml swift:t/x-swift sxc:a/vnd.sun.xml.calc sxd:a/vnd.sun.xml.draw
        sxg:a/vnd.sun.xml.writer.global sxi:a/vnd.sun.xml.impress sxl:a/vnd.sealed.xls
        sxls:a/vnd.sealed.xls sxm:a/vnd.sun.xml.math sxw:a/vnd.sun.xml.writer sy2:a/vnd.sybyl.mol2
        t:t/troff tag:t/prs.lines.tag taglet:a/vnd.mynfc tam:a/vnd.onepager tamp:a/vnd.onepagertamp
        tamx:a/vnd.onepagertamx tao:a/vnd.tao.intent-module-archive tap:i/vnd.tencent.tap
        tar:a/x-tar tat:a/vnd.onepagertat tatp:a/vnd.onepagertatp tatx:a/vnd.onepagertatx
        tau:a/tamp-apex-update taz:a/x-gtar-compressed tbz2:a/x-bzip2 tcap:a/vnd.3gpp2.tcap
        tcl:t/x-tcl tcu:a/tamp-community-update td:a/urc-targetdesc+xml teacher:a/vnd.smart.teacher
        tei:a/tei+xml teicorpus:a/tei+xml ter:a/tamp-error tex:t/x-tex texi:a/x-texinfo
        texinfo:a/x-texinfo text:t/plain tf:t/x-terraform tfi:a/thraud+xml tfvars:t/x-terraform
        tfx:i/tiff-fx tga:i/x-tga tgf:c/x-mdl-tgf tgz:a/gzip thmx:a/vnd.ms-officetheme tif:i/tiff
        tiff:i/tiff tk:t/x-tcl tlclient:a/vnd.cendio.thinlinc.clientconf tm:t/texmacs
        tmo:a/vnd.tmobile-livetv tmx:a/x-tmx+xml tnef:a/vnd.ms-tnef tnf:a/vnd.ms-tnef toml:a/toml
        topojson:a/json torrent:a/x-bittorrent tpl:a/vnd.groove-tool-template tpt:a/vnd.trid.tpt
        tr:t/troff tra:a/vnd.trueapp tree:a/vnd.rainstor.data trig:a/trig ts:v/mp2t
        tsa:a/tamp-sequence-adjust tsd:a/timestamped-data tsp:a/dsptype tsq:a/timestamp-query
        tsr:a/timestamp-reply tst:a/vnd.etsi.timestamp-token tsv:t/tab-separated-values
        tsx:t/x-typescript ttc:f/collection ttf:f/ttf ttl:t/turtle ttml:a/ttml+xml
        tuc:a/tamp-update-confirm tur:a/tamp-update twd:a/vnd.simtech-mindmapper
        twds:a/vnd.simtech-mindmapper txd:a/vnd.genomatix.tuxedo txf:a/vnd.mobius.txf txt:t/plain
        txz:a/x-xz tzst:a/zstd u3d:m/u3d u8dsn:e/global-delivery-status u8hdr:e/global-headers
        u8mdn:e/global-disposition-notification u8msg:e/global udeb:a/vnd.debian.binary-package
        ufd:a/vnd.ufdl ufdl:a/vnd.ufdl uis:a/urc-uisocketdesc+xml umj:a/vnd.umajin
        unityweb:a/vnd.unity uo:a/vnd.uoml+xml uoml:a/vnd.uoml+xml upa:a/vnd.hbci uri:t/uri-list
        urim:a/vnd.uri-map urimap:a/vnd.uri-map uris:t/uri-list url:a/x-mswinurl urls:t/uri-list
        usda:m/vnd.usda usdc:m/vnd.usdc usdz:m/vnd.usdz+zip ustar:a/x-ustar utz:a/vnd.uiq.theme
        uu:t/x-uuencode uva:u/vnd.dece.audio uvd:a/vnd.dece.data uvf:a/vnd.dece.data
        uvg:i/vnd.dece.graphic uvh:v/vnd.dece.hd uvi:i/vnd.dece.graphic uvm:v/vnd.dece.mobile
        uvp:v/vnd.dece.pd uvs:v/vnd.dece.sd uvt:a/vnd.dece.ttml+xml uvu:v/vnd.dece.mp4
        uvv:v/vnd.dece.video uvva:u/vnd.dece.audio uvvd:a/vnd.dece.data uvvf:a/vnd.dece.data
        uvvg:i/vnd.dece.graphic uvvh:v/vnd.dece.hd uvvi:i/vnd.dece.graphic uvvm:v/vnd.dece.mobile
        uvvp:v/vnd.dece.pd uvvs:v/vnd.dece.sd uvvt:a/vnd.dece.ttml+xml uvvu:v/vnd.dece.mp4
        uvvv:v/vnd.dece.video uvvx:a/vnd.dece.unspecified uvvz:a/vnd.dece.zip
        uvx:a/vnd.dece.unspecified uvz:a/vnd.dece.zip v:t/x-verilog val:c/x-ncbi-asn1-binary
        vb:t/x-vb vbk:u/vnd.nortel.vbk vbox:a/vnd.previewsystems.box vcard:t/vcard vcd:a/x-cdlink
        vcf:t/vcard vcg:a/vnd.groove-vcard vcj:a/voucher-cms+json vcs:t/x-vcalendar vcx:a/vnd.vcx
        vdi:a/x-virtualbox-vdi vds:m/vnd.sap.vds vert:t/x-glsl ves:a/vnd.ves.encrypted
        vew:a/vnd.lotus-approach vfk:t/vnd.exchangeable vfr:a/vnd.tml vh:t/x-verilog vhd:t/x-vhdl
        vhdl:t/x-vhdl viaframe:a/vnd.tml vis:a/vnd.visionary viv:v/vnd.vivo vmd:c/x-vmd
        vmdk:a/x-virtualbox-vmdk vms:c/x-vamas-iso14976 vmt:a/vnd.valve.source.material
        vob:v/x-ms-vob vpm:p/voice-message vrm:m/vrml vrml:m/vrml vsc:a/vnd.vidsoft.vidconference
        vsd:a/vnd.visio vsf:a/vnd.vsf vsix:a/vsix vss:a/vnd.visio vst:a/vnd.visio vsw:a/vnd.visio
        vtf:i/vnd.valve.source.texture vtnstd:a/vnd.veritone.aion+json vtt:t/vtt vtu:m/vnd.vtu
        vue:t/x-vue vwx:a/vnd.vectorworks vxml:a/voicexml+xml wad:a/x-doom wadl:a/vnd.sun.wadl+xml
        wafl:a/vnd.wasmflow.wafl war:a/java-archive wasm:a/wasm wav:u/wav wax:u/x-ms-wax
        wbmp:i/vnd.wap.wbmp wbs:a/vnd.criticaltools.wbs+xml wbxml:a/vnd.wap.wbxml wcm:a/vnd.ms-works
        wdb:a/vnd.ms-works wdp:i/vnd.ms-photo weba:u/webm webapp:a/json webarchive:a/x-webarchive
        webm:v/webm webmanifest:a/manifest+json webp:i/webp wg:a/vnd.pmi.widget wgsl:t/wgsl
        wgt:a/widget wif:a/watcherinfo+xml win:m/vnd.gdl wk:a/x-123 wk1:a/vnd.lotus-1-2-3
        wk3:a/vnd.lotus-1-2-3 wk4:a/vnd.lotus-1-2-3 wks:a/vnd.ms-works wlnk:a/link-format
        wm:v/x-ms-wm wma:u/x-ms-wma wmc:a/vnd.wmc wmd:a/x-ms-wmd wmf:i/wmf wml:t/vnd.wap.wml
        wmlc:a/vnd.wap.wmlc wmls:t/vnd.wap.wmlscript wmlsc:a/vnd.wap.wmlscriptc wmv:v/x-ms-wmv
        wmx:v/x-ms-wmx wmz:a/x-ms-wmz woff:f/woff woff2:f/woff2 wpd:a/vnd.wordperfect
        wpl:a/vnd.ms-wpl wps:a/vnd.ms-works wqd:a/vnd.wqd wrl:m/vrml wsc:a/vnd.wfa.wsc
        wsdl:a/wsdl+xml wspolicy:a/wspolicy+xml wtb:a/vnd.webturbo wv:u/x-wavpack wvx:v/x-ms-wvx
        wz:a/x-wingz x3d:m/x3d+xml x3db:m/x3d+fastinfoset x3dv:m/x3d-vrml x3dvz:m/x3d-vrml
        x3dz:m/x3d+xml x3f:i/x-sigma-x3f x_b:m/vnd.parasolid.transmit.binary
        x_t:m/vnd.parasolid.transmit.text xap:a/x-silverlight-app xar:a/vnd.xara xav:a/xcap-att+xml
        xbd:a/vnd.fujixerox.docuworks.binder xbm:i/x-xbitmap xca:a/xcap-caps+xml xcf:i/x-xcf
        xcos:a/x-scilab-xcos xcs:a/calendar+xml xct:a/vnd.fujixerox.docuworks.container
        xdd:a/bacnet-xdd+zip xdf:a/xcap-diff+xml xdm:a/vnd.syncml.dm+xml xdp:a/vnd.adobe.xdp+xml
        xdssc:a/dssc+xml xdw:a/vnd.fujixerox.docuworks xel:a/xcap-el+xml xer:a/xcap-error+xml
        xfd:a/vnd.xfdl xfdf:a/xfdf xfdl:a/vnd.xfdl xhe:u/usac xht:a/xhtml+xml xhtm:a/xhtml+xml
        xhtml:a/xhtml+xml xhvml:a/xv+xml xif:i/vnd.xiff xjb:a/xml xla:a/vnd.ms-excel
        xlam:a/vnd.ms-excel.addin.macroenabled.12 xlc:a/vnd.ms-excel xlf:a/x-xliff+xml
        xliff:a/x-xliff+xml xlim:a/vnd.xmpie.xlim xlm:a/vnd.ms-excel xls:a/vnd.ms-excel
        xlsb:a/vnd.ms-excel.sheet.binary.macroenabled.12 xlsm:a/vnd.ms-excel.sheet.macroenabled.12
        xlsx:a/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlt:a/vnd.ms-excel
        xltm:a/vnd.ms-excel.template.macroenabled.12
        xltx:a/vnd.openxmlformats-officedocument.spreadsheetml.template xlw:a/vnd.ms-excel
        xm:u/x-mod xml:a/xml xmls:a/dskpp+xml xmt_bin:m/vnd.parasolid.transmit.binary
        xmt_txt:m/vnd.parasolid.transmit.text xns:a/xcap-ns+xml xo:a/vnd.olpc-sugar
        xodp:a/vnd.collabio.xodocuments.presentation xods:a/vnd.collabio.xodocuments.spreadsheet
        xodt:a/vnd.collabio.xodocuments.document xop:a/xop+xml
        xotp:a/vnd.collabio.xodocuments.presentation-template
        xots:a/vnd.collabio.xodocuments.spreadsheet-template
        xott:a/vnd.collabio.xodocuments.document-template xpak:a/vnd.gentoo.xpak xpi:a/x-xpinstall
        xpm:i/x-xpixmap xpr:a/vnd.is-xpr xps:a/vnd.ms-xpsdocument xpw:a/vnd.intercon.formnet
        xpx:a/vnd.intercon.formnet xsd:a/xml xsf:a/prs.xsf+xml xsl:a/xml xslt:a/xslt+xml
        xsm:a/vnd.syncml+xml xspf:a/xspf+xml xtel:c/x-xtel xul:a/vnd.mozilla.xul+xml xvm:a/xv+xml
        xvml:a/xv+xml xwd:i/x-xwindowdump xyz:c/x-xyz xyze:i/vnd.radiance xz:a/x-xz yaml:a/yaml
        yang:a/yang yin:a/yin+xml yme:a/vnd.yaoweme yml:a/yaml yt:v/vnd.youtube.yt z:a/x-compress
        zaz:a/vnd.zzazz.deck+xml zfc:a/vnd.filmit.zfc zfo:a/vnd.software602.filler.form-xml-zip
        zig:t/x-zig zip:a/zip zir:a/vnd.zul zirz:a/vnd.zul zmm:a/vnd.handheld-entertainment+xml
        zmt:c/x-mopac-input zone:t/dns zoo:a/x-zoo zsh:t/x-shellscript zst:a/zstd
        """
}
