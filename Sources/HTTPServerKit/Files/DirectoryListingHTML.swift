internal import HTTPParser

extension DirectoryListing {
    /// The beginning of the listing as a page, in UTF-8.
    ///
    /// The page loads no other resources and is readable without its script, which only adds
    /// sorting. Send it with ``contentSecurityPolicy``.
    func htmlStart() -> [UInt8] {
        var writer = HTMLWriter(reservingCapacity: 12_000)
        writeHead(to: &writer)
        writer.markup("<header>\n")
        writeBreadcrumb(to: &writer)
        writer.markup("<p class=\"summary\">\(summary)</p>\n")
        writeUploadLink(to: &writer)
        writer.markup("</header>\n<main>\n")
        guard hasTable else { return writer.bytes }
        writer.markup("<table>\n")
        if !entries.isEmpty { writer.markup(ListingPage.tableHead) }
        if !path.isEmpty { writer.markup(ListingPage.parentRow) }
        writer.markup("<tbody id=\"entries\">\n")
        return writer.bytes
    }

    /// The rows of some members.
    func html(_ range: Range<Int>) -> [UInt8] {
        var writer = HTMLWriter(reservingCapacity: range.count * 320)
        for entry in entries[range] { entry.write(to: &writer) }
        return writer.bytes
    }

    /// The text after the members.
    func htmlEnd() -> [UInt8] {
        var writer = HTMLWriter(reservingCapacity: 4_000)
        if hasTable { writer.markup("</tbody>\n</table>\n") }
        if entries.isEmpty { writer.markup(ListingPage.emptyMessage) }
        writer.markup("</main>\n<script>\(ListingPage.script)</script>\n</body>\n</html>\n")
        return writer.bytes
    }

    private func writeHead(to writer: inout HTMLWriter) {
        writer.markup(ListingPage.headStart)
        let names = path.isEmpty ? [rootName] : path.reversed().map { ListingText.name($0) }
        writer.text(names.joined(separator: " \u{2039} "))
        writer.markup("</title>\n<style>\(ListingPage.style)</style>\n</head>\n<body>\n")
        writer.markup(ListingIcon.definitions)
    }

    /// Writes the folders from the root to this one; all except the last are links.
    private func writeBreadcrumb(to writer: inout HTMLWriter) {
        let names = [rootName] + path.map { ListingText.name($0) }
        writer.markup("<nav aria-label=\"Path\"><ol>\n")
        for (index, name) in names.enumerated() {
            let isLast = index == names.count - 1
            let link = String(repeating: "../", count: names.count - 1 - index)
            writer.markup(isLast ? "<li><h1 dir=\"auto\">" : "<li><a href=\"\(link)\">")
            if index == 0 { writer.markup(ListingIcon.home.markup) }
            writer.markup("<span dir=\"auto\">")
            writer.text(name)
            writer.markup(isLast ? "</span></h1></li>\n" : "</span></a></li>\n")
        }
        writer.markup("</ol></nav>\n")
    }

    /// Writes the link to the upload page of this folder, if there is an upload page.
    private func writeUploadLink(to writer: inout HTMLWriter) {
        guard let uploadPage else { return }
        let isRelative = !uploadPage.hasPrefix("/") && !uploadPage.contains("://")
        // The prefix "./" keeps a colon in the link from ending a scheme.
        let up = path.isEmpty ? "./" : String(repeating: "../", count: path.count)
        let way = isRelative ? up : ""
        let folder = path.map { PathEncoding.segment($0) + "/" }.joined()
        writer.markup("<a class=\"upload\" href=\"")
        writer.attribute("\(way)\(uploadPage)?path=/\(folder)")
        writer.markup("\">Upload</a>\n")
    }

    private var summary: String {
        let folders = entries.count { $0.isDirectory }
        let files = entries.count - folders
        guard files > 0 else { return folders > 0 ? ListingText.count(folders, "folder") : "" }
        // The sum of many sizes could exceed the type.
        let total = entries.reduce(Int64(0)) { sum, entry in
            let (total, overflow) = sum.addingReportingOverflow(
                entry.isDirectory ? 0 : max(0, entry.size))
            return overflow ? .max : total
        }
        let parts = [
            folders > 0 ? ListingText.count(folders, "folder") : nil,
            ListingText.count(files, "file"), ListingText.size(total),
        ]
        return parts.compactMap(\.self).joined(separator: " \u{00B7} ")
    }

    private var hasTable: Bool { !(entries.isEmpty && path.isEmpty) }
}

extension DirectoryEntry {
    fileprivate func write(to writer: inout HTMLWriter) {
        let icon = isDirectory ? ListingIcon.folder : ListingIcon(forFile: name)
        writer.markup(isDirectory ? "<tr class=\"directory\">" : "<tr>")
        writer.markup("<td class=\"name\"><a href=\"")
        writer.attribute(PathEncoding.link(to: name, isDirectory: isDirectory))
        writer.markup("\">\(icon.markup)<span dir=\"auto\">")
        writer.text(ListingText.name(name))
        writer.markup("</span></a></td>")
        writeSize(to: &writer)
        writeTime(to: &writer)
        writer.markup("</tr>\n")
    }

    private func writeSize(to writer: inout HTMLWriter) {
        guard !isDirectory else {
            writer.markup("<td class=\"size\" data-value=\"-1\"></td>")
            return
        }
        let size = max(0, size)
        writer.markup("<td class=\"size\" data-value=\"\(size)\" title=\"\(size) bytes\">")
        writer.markup("\(ListingText.size(size))</td>")
    }

    private func writeTime(to writer: inout HTMLWriter) {
        let seconds = modified.secondsSinceEpoch
        let stamp = CivilTime(secondsSinceEpoch: seconds).rfc3339
        writer.markup("<td class=\"time\" data-value=\"\(seconds)\">")
        writer.markup("<time datetime=\"\(stamp)\">\(ListingText.time(modified))</time></td>")
    }
}
