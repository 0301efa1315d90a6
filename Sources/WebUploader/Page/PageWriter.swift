internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import WebDAVKit

/// Writes the pages. All of them work without a script; the page of a folder has a script that
/// improves it.
struct PageWriter {
    /// Only content of this origin is run or loaded.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        + "media-src 'self'; frame-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    var html = HTMLWriter(reservingCapacity: 16_000)
    let texts: PageTexts

    private init(_ texts: PageTexts) {
        self.texts = texts
    }

    // MARK: Pieces

    private mutating func head(_ title: String, hasScript: Bool) {
        html.markup("<!doctype html>\n<html lang=\"\(texts.language)\">\n<head>\n")
        html.markup(
            """
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="\(UploaderAssets.folder)page.css">

            """)
        if hasScript {
            html.markup(
                "<script type=\"module\" src=\"\(UploaderAssets.folder)page.js\"></script>\n")
        }
        html.markup("<title>")
        html.text(title)
        html.markup("</title>\n</head>\n<body>\n")
    }

    mutating func text(_ key: String) { html.text(texts[key]) }

    private mutating func put(_ text: UploaderText) {
        switch text {
        case .text(let text): html.text(text)
        case .markup(let markup): html.markup(markup.html)
        }
    }

    private mutating func put(_ text: UploaderText, in element: String, _ name: String) {
        guard !text.isEmpty else { return }
        html.markup("<\(element) class=\"\(name)\">")
        put(text)
        html.markup("</\(element)>\n")
    }

    mutating func hidden(_ name: String, _ value: String) {
        html.markup("<input type=\"hidden\" name=\"\(name)\" value=\"")
        html.attribute(value)
        html.markup("\">\n")
    }

    mutating func button(_ key: String, _ attributes: String = "") {
        html.markup("<button \(attributes)>")
        text(key)
        html.markup("</button>\n")
    }

    // MARK: The page of a folder

    static func page(
        _ folder: ResourcePath, _ listed: Listed?, _ call: UploaderCall,
        _ options: UploaderOptions, token: String
    ) -> [UInt8] {
        var writer = PageWriter(PageTexts(for: call.request))
        writer.write(folder, listed, call.role, options, token)
        return writer.html.bytes
    }

    private mutating func write(
        _ folder: ResourcePath, _ listed: Listed?, _ role: UploaderRole,
        _ options: UploaderOptions, _ token: String
    ) {
        let name =
            folder.isRoot
            ? options.title : ListingText.name(folder.name) + " \u{2039} " + options.title
        head(name, hasScript: role.mayList)
        if let header = options.header {
            put(header, in: "header", "heading")
        } else {
            html.markup("<header><h1 class=\"heading\">")
            html.text(options.title)
            html.markup("</h1></header>\n")
        }
        html.markup("<main id=\"uploader\"")
        data("token", token)
        data("role", role.rawValue)
        data("link", PathText.link(folder, isFolder: true))
        data("title", options.title)
        data("conflict", options.conflict.rawValue)
        data("choose", options.letsClientsChoose ? "1" : "")
        data("limit", options.contentLimit == .max ? "" : String(options.contentLimit))
        let json = try? JSONBody().encode(texts.ofScript)
        data("texts", String(decoding: json ?? [], as: UTF8.self))
        html.markup(">\n")
        put(options.prologue, in: "div", "prologue")
        if role.mayList { breadcrumb(folder, options.title) }
        if role.mayUpload { uploadForm(folder, role, options, token) }
        if let listed { list(folder, listed, role, token) }
        if !role.mayList {
            html.markup("<p>")
            text(role == .uploadOnly ? "uploadOnly" : "downloadOnly")
            html.markup("</p>\n")
        }
        html.markup(
            "<div id=\"notice\"><p id=\"status\" role=\"status\" aria-live=\"polite\"></p>\n")
        if role.mayChange { button("undo", "type=\"button\" id=\"undo\" hidden") }
        html.markup("</div>\n")
        put(options.epilogue, in: "div", "epilogue")
        html.markup("</main>\n")
        put(options.footer, in: "footer", "footer")
        html.markup("</body>\n</html>\n")
    }

    private mutating func data(_ name: String, _ value: String) {
        html.markup(" data-\(name)=\"")
        html.attribute(value)
        html.markup("\"")
    }

    /// Links to the folders from the root to this one, which is marked as the current page.
    private mutating func breadcrumb(_ folder: ResourcePath, _ title: String) {
        html.markup("<nav aria-label=\"")
        html.attribute(texts["path"])
        html.markup("\"><ol id=\"crumbs\">")
        var path = ResourcePath.root
        let names = folder.segments
        for index in 0...names.count {
            if index > 0 { path = path.appending(names[index - 1]) }
            let isLast = index == names.count
            html.markup("<li><a href=\"?path=")
            html.attribute(PathText.link(path, isFolder: true))
            html.markup(isLast ? "\" aria-current=\"page\" dir=\"auto\">" : "\" dir=\"auto\">")
            html.text(index == 0 ? title : ListingText.name(names[index - 1]))
            html.markup("</a></li>")
        }
        html.markup("</ol></nav>\n")
    }

    private mutating func uploadForm(
        _ folder: ResourcePath, _ role: UploaderRole, _ options: UploaderOptions, _ token: String
    ) {
        let path = PathText.link(folder, isFolder: true)
        html.markup(
            "<form id=\"upload\" class=\"card\" method=\"post\" action=\"upload\" "
                + "enctype=\"multipart/form-data\">\n")
        hidden("token", token)
        hidden("link", path)
        // Fields must come before files. The style shows them after the files.
        if options.letsClientsChoose { conflictChoice(role, options) }
        html.markup("<label>")
        text("chooseFiles")
        html.markup(" <input id=\"files-input\" type=\"file\" name=\"files[]\" multiple></label>\n")
        html.markup("<label class=\"enhanced\">")
        text("chooseFolder")
        html.markup(" <input id=\"folder-input\" type=\"file\" webkitdirectory multiple></label>\n")
        button("upload", "type=\"submit\" class=\"plain primary\"")
        html.markup("<p class=\"enhanced hint drop\">")
        text("drop")
        html.markup("</p>\n")
        if options.contentLimit < .max {
            html.markup("<p class=\"hint\">")
            html.text(
                texts["limit"].replacing("%", with: ListingText.size(options.contentLimit)))
            html.markup("</p>\n")
        }
        html.markup("</form>\n")
        html.markup(
            "<form id=\"create\" class=\"card\" method=\"post\" action=\"create\">\n")
        hidden("token", token)
        hidden("link", path)
        html.markup("<label>")
        text("newFolder")
        html.markup(
            " <input type=\"text\" name=\"name\" required maxlength=\"255\" autocomplete=\"off\">"
                + "</label>\n")
        button("create", "type=\"submit\"")
        html.markup("</form>\n")
    }

    private mutating func conflictChoice(_ role: UploaderRole, _ options: UploaderOptions) {
        html.markup("<label>")
        text("conflict")
        html.markup(" <select id=\"conflict\" name=\"conflict\">")
        // Only the script can ask the user, so the script adds the choice `ask`.
        for conflict in NameConflict.allCases
        where conflict != .ask && (role == .all || conflict != .replace) {
            let isChosen = conflict == (options.conflict == .ask ? .refuse : options.conflict)
            html.markup(
                "<option value=\"\(conflict.rawValue)\"\(isChosen ? " selected" : "")>")
            text(conflict == .keepBoth ? "keepBoth" : conflict.rawValue)
            html.markup("</option>")
        }
        html.markup("</select></label>\n")
    }
}

// MARK: - Other pages

extension PageWriter {
    /// The page that asks for confirmation of a deletion.
    static func confirmation(
        _ paths: [ResourcePath], _ texts: PageTexts, token: String
    ) -> [UInt8] {
        var writer = PageWriter(texts)
        writer.ask(paths, token)
        return writer.html.bytes
    }

    private mutating func ask(_ paths: [ResourcePath], _ token: String) {
        let question =
            paths.count == 1
            ? texts["deleteOne"].replacing("%", with: ListingText.name(paths[0].name))
            : texts["deleteSeveral"].replacing("%", with: String(paths.count))
        head(question, hasScript: false)
        html.markup("<main class=\"card\"><h1>")
        html.text(question)
        html.markup("</h1>\n<p>")
        html.text(texts["deleteWarning"] + " " + texts["deleteForGood"])
        html.markup("</p>\n<form method=\"post\" action=\"delete\">\n")
        hidden("token", token)
        hidden("confirmed", "1")
        for path in paths {
            hidden("link", PathText.link(path, isFolder: false))
        }
        html.markup("<ul>")
        for path in paths.prefix(100) {
            html.markup("<li dir=\"auto\">")
            html.text(ListingText.name(path.name))
            html.markup("</li>")
        }
        html.markup("</ul>\n")
        button("delete", "type=\"submit\" class=\"danger\"")
        html.markup("<a href=\"./?path=")
        html.attribute(PathText.link(paths[0].parent ?? .root, isFolder: true))
        html.markup("\">")
        text("cancel")
        html.markup("</a></form></main>\n</body>\n</html>\n")
    }

    static func errorPage(_ error: UploaderError, _ texts: PageTexts) -> [UInt8] {
        var writer = PageWriter(texts)
        writer.tell(error)
        return writer.html.bytes
    }

    private mutating func tell(_ error: UploaderError) {
        head(texts["error"], hasScript: false)
        html.markup("<main class=\"card\"><h1>")
        text("error")
        html.markup("</h1>\n<p>")
        html.text(error.status.description)
        html.markup("</p>\n")
        let reason = error.reason(in: texts)
        if !reason.isEmpty {
            html.markup("<p>")
            html.text(reason)
            html.markup("</p>\n")
        }
        html.markup("<p><a href=\"./\">")
        text("back")
        html.markup("</a></p></main>\n</body>\n</html>\n")
    }
}
