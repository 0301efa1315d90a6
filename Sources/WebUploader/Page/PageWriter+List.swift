internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import WebDAVKit

/// The list of a folder.
extension PageWriter {
    mutating func list(
        _ folder: ResourcePath, _ listed: Listed, _ role: UploaderRole, _ token: String
    ) {
        html.markup(
            "<section id=\"transfers\" class=\"card enhanced\" hidden aria-label=\"")
        html.attribute(texts["transfers"])
        html.markup("\"><ul id=\"transfer-list\"></ul><div class=\"actions\">")
        button("pauseAll", "type=\"button\" id=\"pause-all\"")
        button("continueAll", "type=\"button\" id=\"continue-all\"")
        button("clear", "type=\"button\" id=\"clear\"")
        html.markup("</div></section>\n<div class=\"tools\"><label class=\"enhanced\">")
        text("search")
        html.markup(" <input id=\"search\" type=\"search\" autocomplete=\"off\"></label>\n")
        html.markup("<a id=\"folder\" href=\"download?path=")
        html.attribute(listed.link)
        html.markup("\" download>")
        text("downloadFolder")
        html.markup("</a></div>\n")
        html.markup("<form id=\"list\" class=\"card\" method=\"post\" action=\"move\">\n")
        hidden("token", token)
        html.markup("<table aria-label=\"")
        html.attribute(texts["files"])
        html.markup("\">\n<thead><tr>")
        html.markup("<td class=\"check\"><input id=\"all\" class=\"enhanced\"")
        html.markup(" type=\"checkbox\" aria-label=\"")
        html.attribute(texts["selectAll"])
        html.markup("\"></td>")
        for (key, sort) in [("name", "name"), ("size", "size"), ("modified", "modified")] {
            html.markup("<th scope=\"col\" class=\"\(key)\" data-sort=\"\(sort)\">")
            text(key)
            html.markup("</th>")
        }
        if role.mayChange { html.markup("<td class=\"act enhanced\"></td>") }
        html.markup("</tr></thead>\n<tbody id=\"entries\">\n")
        for entry in listed.entries { row(entry, role) }
        html.markup("</tbody>\n</table>\n")
        html.markup("<p id=\"empty\"\(listed.entries.isEmpty ? "" : " hidden")>")
        text("nothing")
        html.markup("</p>\n")
        if let next = listed.next { more(listed, next) }
        actions(role)
        html.markup("</form>\n")
        if role.mayChange { dialogs() }
        preview()
        html.markup("<p class=\"enhanced hint\">")
        text("keys")
        html.markup("</p>\n")
    }

    private mutating func row(_ entry: ListedEntry, _ role: UploaderRole) {
        let name = ListingText.name(Array(entry.name.utf8))
        html.markup("<tr class=\"\(entry.type)\">")
        html.markup("<td class=\"check\"><input type=\"checkbox\" name=\"link\" value=\"")
        html.attribute(entry.link)
        html.markup("\" aria-label=\"")
        html.attribute(texts["select"].replacing("%", with: name))
        html.markup("\"></td>")
        html.markup("<td class=\"name\"><a href=\"\(entry.isFolder ? "" : "download")?path=")
        html.attribute(entry.link)
        html.markup(entry.isFolder ? "\" dir=\"auto\">" : "\" download dir=\"auto\">")
        html.text(name)
        html.markup("</a></td><td class=\"size\">")
        if let size = entry.size { html.text(ListingText.size(size)) }
        html.markup("</td><td class=\"modified\"><time datetime=\"")
        html.attribute(entry.modified)
        html.markup("\">")
        html.text(String(entry.modified.prefix(16)).replacing("T", with: " "))
        html.markup("</time></td></tr>\n")
    }

    private mutating func more(_ listed: Listed, _ next: Int) {
        html.markup("<p class=\"plain\"><a href=\"?path=")
        html.attribute(listed.link)
        html.markup("&amp;offset=\(next)\">")
        text("more")
        html.markup("</a></p>\n")
    }

    /// The return key presses the first button, so the first button must not delete.
    private mutating func actions(_ role: UploaderRole) {
        html.markup("<div class=\"plain actions\">")
        if role.mayChange {
            html.markup("<label>")
            text("newName")
            html.markup(
                " <input type=\"text\" name=\"newName\" maxlength=\"255\" autocomplete=\"off\">"
                    + "</label>\n")
            button("rename", "type=\"submit\"")
        }
        button("download", "type=\"submit\" formaction=\"download\"")
        if role.mayChange {
            button("delete", "type=\"submit\" formaction=\"delete\" class=\"danger\"")
        }
        html.markup("</div>\n<div id=\"selection\" class=\"enhanced actions\" hidden>")
        html.markup("<span id=\"selected\"></span>\n")
        button("download", "type=\"button\" id=\"download\"")
        if role.mayChange {
            button("move", "type=\"button\" id=\"move\"")
            button("delete", "type=\"button\" id=\"delete\" class=\"danger\"")
        }
        html.markup("</div>\n")
    }

    /// The dialog that shows a file.
    private mutating func preview() {
        html.markup(
            "<dialog id=\"preview\" aria-labelledby=\"preview-name\"><form method=\"dialog\">"
                + "<h2 id=\"preview-name\" dir=\"auto\"></h2><div class=\"actions\">")
        button("previous", "type=\"button\" id=\"previous\"")
        button("next", "type=\"button\" id=\"next\"")
        html.markup("<a id=\"preview-download\" href=\"#\" download>")
        text("download")
        html.markup("</a>\n")
        button("close", "value=\"\" autofocus")
        html.markup("</div></form><div id=\"preview-content\"></div></dialog>\n")
    }

    private mutating func dialogs() {
        html.markup(
            "<dialog id=\"delete-dialog\" aria-labelledby=\"delete-question\">"
                + "<form method=\"dialog\"><h2 id=\"delete-question\"></h2><p>")
        text("deleteWarning")
        html.markup("</p><div class=\"actions\">")
        button("cancel", "value=\"\" autofocus")
        button("delete", "value=\"yes\" class=\"danger\"")
        html.markup("</div></form></dialog>\n")
        html.markup(
            "<dialog id=\"move-dialog\" aria-labelledby=\"move-question\">"
                + "<form method=\"dialog\"><h2 id=\"move-question\">")
        text("moveTo")
        html.markup("</h2><input id=\"target\" type=\"text\" aria-labelledby=\"move-question\">")
        html.markup("<div class=\"actions\">")
        button("move", "value=\"yes\" class=\"primary\"")
        button("cancel", "value=\"\" formnovalidate")
        html.markup("</div></form></dialog>\n")
        html.markup(
            "<dialog id=\"conflict-dialog\" aria-labelledby=\"conflict-question\">"
                + "<form method=\"dialog\"><h2 id=\"conflict-question\"></h2>"
                + "<label id=\"conflict-all\"><input type=\"checkbox\"> ")
        text("forAll")
        html.markup("</label><div class=\"actions\">")
        button("keepBoth", "value=\"keep\" class=\"primary\" autofocus")
        button("replace", "value=\"replace\"")
        button("skip", "value=\"skip\"")
        html.markup("</div></form></dialog>\n")
    }
}
