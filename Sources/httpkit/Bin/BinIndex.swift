import HTTPServerCore
internal import HTTPServerKit

/// The page that lists the endpoints.
enum BinIndex {
    static func page(_ groups: [BinRouter.Group], torture: String?) -> String {
        var sections = groups.map(section).joined()
        if let torture {
            let address = HTMLEscaping.attribute(torture)
            sections += """
                <section><h2>Broken on purpose</h2><p class="note">Unusual and malformed \
                responses, one per path, are at \
                <a href="\(address)">\(HTMLEscaping.text(torture))</a>.\
                </p></section>

                """
        }
        return head("httpkit bin")
            + "<p class=\"note\">Requests are returned as JSON, and each kind of response that a "
            + "client has to understand has a path. The paths are those of httpbin.</p>\n"
            + sections + "</main></body></html>\n"
    }

    /// The start of a page, up to its heading.
    static func head(_ title: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        <style>\(style)</style>
        </head>
        <body><main>
        <h1>\(BinImage.drawing)\(title)</h1>

        """
    }

    private static func section(_ group: BinRouter.Group) -> String {
        let rows = group.entries.map { entry in
            row(entry.methods, entry.path, entry.text, link: entry.example)
        }
        return table(group.title, rows)
    }

    static func table(_ title: String, _ rows: [String]) -> String {
        "<section><h2>\(HTMLEscaping.text(title))</h2><table>\n" + rows.joined()
            + "</table></section>\n"
    }

    static func row(_ methods: String, _ path: String, _ text: String, link: String?) -> String {
        let shown = HTMLEscaping.text(path)
        let name =
            link.map { "<a href=\"\(HTMLEscaping.attribute($0))\">\(shown)</a>" } ?? shown
        let labels = methods.split(separator: " ").map { "<b>\($0)</b>" }.joined(separator: " ")
        return "<tr><td>\(labels)</td><td><code>\(name)</code></td>"
            + "<td>\(HTMLEscaping.text(text))</td></tr>\n"
    }

    private static let style = """
        :root {
            --page: #f5f6f8; --card: #fff; --text: #1b2029; --soft: #667085; --line: #e7e9ee;
            --accent: #0f766e; --label: #e6f4f1; color-scheme: light dark;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --page: #0e1116; --card: #161a21; --text: #e7eaf0; --soft: #929cae;
                --line: #262c37; --accent: #5ec9bb; --label: #16302d;
            }
        }
        body {
            margin: 0; background: var(--page); color: var(--text);
            font: 0.9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
        }
        main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
        h1 { display: flex; align-items: center; gap: 0.75rem; font-size: 1.5rem; }
        h1 svg { width: 2.25rem; height: 2.25rem; }
        h2 { margin: 2rem 0 0.5rem; font-size: 1rem; }
        .note { color: var(--soft); max-width: 44rem; }
        table {
            width: 100%; border-collapse: collapse; background: var(--card);
            border: 1px solid var(--line); border-radius: 0.5rem; border-style: hidden;
            box-shadow: 0 0 0 1px var(--line);
        }
        td { padding: 0.4rem 0.75rem; border-top: 1px solid var(--line); vertical-align: top; }
        tr:first-child td { border-top: 0; }
        td:nth-child(1) { width: 6.5rem; }
        td:nth-child(2) { width: 19rem; overflow-wrap: anywhere; }
        td:nth-child(3) { color: var(--soft); }
        b {
            display: inline-block; padding: 0 0.4rem; border-radius: 0.25rem; font-size: 0.75rem;
            font-weight: 600; background: var(--label); color: var(--accent);
        }
        code { font: 0.875rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
        a { color: var(--accent); text-decoration: none; }
        a:hover { text-decoration: underline; }
        @media (max-width: 40rem) {
            tr { display: block; padding: 0.5rem 0; }
            td, td:nth-child(n) { display: block; width: auto; border: 0; padding: 0.1rem 0.75rem; }
        }
        """
}
