import ArgumentParser
internal import HTTPServerKit
import WebUploader

/// How the directory is served by the upload page.
struct UploaderFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Serve the upload page of the directory, below PREFIX.",
            discussion: """
                Files can be uploaded, renamed and deleted there, unless --read-only is given. Names \
                that begin with a dot are refused unless --show-hidden is.
                """, valueName: "prefix"))
    var uploader: String?

    @Option(
        help: ArgumentHelp(
            "If an uploaded name is taken: keep both, replace, refuse or ask; by default keep.",
            valueName: "choice"),
        transform: { text in
            guard let choice = NameConflict(rawValue: text) else {
                throw ValidationError("--uploader-conflict takes keep, replace, refuse or ask")
            }
            return choice
        })
    var uploaderConflict: NameConflict?

    func validate() throws {
        if let uploader, !uploader.hasPrefix("/") {
            throw ValidationError("--uploader takes a path that begins with a slash")
        }
        if uploaderConflict != nil, uploader == nil {
            throw ValidationError("--uploader-conflict needs --uploader")
        }
    }

    /// The segments of a path, by which paths are compared.
    static func segments(_ path: String) -> [Substring] { path.split(separator: "/") }

    /// The link to the page, relative to the root of the directory; `nil` without a page.
    var linkFromRoot: String? {
        uploader.map { path in
            Self.segments(path).map { PathEncoding.segment(Array($0.utf8)) + "/" }.joined()
        }
    }

    var options: UploaderOptions {
        var options = UploaderOptions()
        if let uploaderConflict { options.conflict = uploaderConflict }
        return options
    }
}
