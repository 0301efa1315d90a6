/// The fixed parts of a listing page.
///
/// Style and script are constants, so that a policy can allow them by their hashes. The browser
/// runs nothing else, whatever file names contain.
enum ListingPage {
    static let headStart = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="robots" content="noindex">
        <link rel="icon" href="\(favicon)">
        <title>
        """

    private static let favicon = """
        data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E\
        %3Cpath fill='%233b82f6' d='M2 6a2 2 0 0 1 2-2h5l2.5 2.5H20a2 2 0 0 1 2 2V18a2 2 0 0 1-2 \
        2H4a2 2 0 0 1-2-2z'/%3E%3C/svg%3E
        """

    static let tableHead = """
        <thead><tr>\
        <th scope="col" class="name" aria-sort="ascending">Name</th>\
        <th scope="col" class="size">Size</th>\
        <th scope="col" class="time">Modified <small>UTC</small></th>\
        </tr></thead>

        """

    static let parentRow = """
        <tbody><tr class="parent"><td class="name" colspan="3"><a href="../">\
        \(ListingIcon.up.markup)<span>Parent folder</span></a></td></tr></tbody>

        """

    static let emptyMessage = """
        <div class="empty">\(ListingIcon.folder.markup)<p>This folder is empty</p></div>

        """

    static let style = """

        :root {
            --page: #f5f6f8; --card: #fff; --text: #1b2029; --soft: #667085; --line: #e7e9ee;
            --hover: #f3f6fc; --accent: #2563eb; --folder: #60a5fa; --folder-front: #3b82f6;
            --image: #0f9f6e; --video: #8b5cf6; --audio: #db2777; --archive: #c27803;
            --code: #0891b2;
            color-scheme: light dark;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --page: #0e1116; --card: #161a21; --text: #e7eaf0; --soft: #929cae;
                --line: #262c37; --hover: #1d232d; --accent: #7db0ff; --folder: #3b76c4;
                --folder-front: #5b9bf0; --image: #3ecf95; --video: #a78bfa; --audio: #f472b6;
                --archive: #e3a93c; --code: #38bdd8;
            }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body {
            max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem;
            background: var(--page); color: var(--text);
            font: 0.9375rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans",
                sans-serif;
        }
        a { color: inherit; text-decoration: none; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
        .symbols { position: absolute; width: 0; height: 0; }
        .icon {
            flex: none; width: 1.5rem; height: 1.5rem; color: var(--soft);
            fill: none; stroke: currentColor; stroke-width: 1.5;
            stroke-linecap: round; stroke-linejoin: round;
        }
        .fill { fill: currentColor; fill-opacity: 0.12; }
        .solid { fill: currentColor; stroke: none; }
        .shade { fill: var(--folder-front); stroke: none; }
        .folder { color: var(--folder); }
        .image { color: var(--image); }
        .video { color: var(--video); }
        .audio { color: var(--audio); }
        .archive { color: var(--archive); }
        .code { color: var(--code); }

        header {
            display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1.5rem;
            margin: 0 0.25rem 1.25rem;
        }
        nav { flex: 1 1 auto; min-width: 0; }
        nav ol {
            display: flex; flex-wrap: wrap; align-items: center;
            margin: 0 0 0 -0.375rem; padding: 0; list-style: none;
            font-size: 1.25rem; letter-spacing: -0.01em;
        }
        nav li { display: flex; align-items: center; min-width: 0; }
        nav li:not(:last-child)::after {
            content: "/"; margin: 0 0.125rem; color: var(--soft); opacity: 0.6;
        }
        nav a, h1 {
            display: flex; align-items: center; gap: 0.5rem; min-width: 0;
            padding: 0.125rem 0.375rem; border-radius: 0.375rem;
        }
        nav a { color: var(--soft); }
        nav a:hover { background: var(--line); color: var(--text); }
        nav span, td span { min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
        nav .icon { width: 1.25rem; height: 1.25rem; color: inherit; }
        h1 { margin: 0; font-size: inherit; font-weight: 650; }
        .summary { margin: 0; color: var(--soft); font-variant-numeric: tabular-nums; }
        .upload {
            padding: 0.25rem 0.875rem; border: 1px solid var(--line); border-radius: 0.5rem;
            background: var(--card); color: var(--accent); font-weight: 500;
        }
        .upload:hover { background: var(--hover); }

        main {
            overflow: clip; background: var(--card);
            border: 1px solid var(--line); border-radius: 0.875rem;
            box-shadow: 0 1px 2px rgb(16 24 40 / 4%), 0 8px 24px rgb(16 24 40 / 4%);
        }
        table { width: 100%; border-collapse: collapse; }
        th {
            position: sticky; top: 0; padding: 0; background: var(--card);
            box-shadow: inset 0 -1px var(--line);
            color: var(--soft); font-size: 0.8125rem; font-weight: 500;
            text-align: start; white-space: nowrap;
        }
        th, th button { line-height: 1.25rem; }
        th:not(:has(button)), th button { padding: 0.625rem 1rem; }
        th button {
            width: 100%; border: 0; background: none; color: inherit; font: inherit;
            text-align: inherit; cursor: pointer;
        }
        th button:hover, th[aria-sort] { color: var(--text); }
        th.name button::after, th:not(.name) button::before {
            content: ""; display: inline-block; width: 0.4em; height: 0.4em; margin: 0 0.6em;
            border: solid; border-width: 0 1.5px 1.5px 0; opacity: 0;
            transform: translateY(-0.15em) rotate(45deg);
        }
        th[aria-sort] button::after, th[aria-sort] button::before { opacity: 0.8; }
        th[aria-sort="ascending"] button::after, th[aria-sort="ascending"] button::before {
            transform: translateY(0.1em) rotate(225deg);
        }
        th small { font-size: 0.6875rem; line-height: 1; opacity: 0.75; }
        td { padding: 0; border-top: 1px solid var(--line); }
        thead + tbody tr:first-child td, table > tbody:first-child tr:first-child td {
            border-top: 0;
        }
        .size, .time { width: 1%; text-align: end; white-space: nowrap; }
        td.size, td.time {
            padding: 0 1rem; color: var(--soft);
            font-size: 0.875rem; font-variant-numeric: tabular-nums;
        }
        td a {
            display: flex; align-items: center; gap: 0.75rem; min-height: 2.625rem;
            padding: 0.4375rem 1rem;
        }
        .directory a { font-weight: 500; }
        .parent a { color: var(--soft); }
        tr:hover td { background: var(--hover); }
        td a:hover span { color: var(--accent); }
        .empty { padding: 4rem 1rem 4.5rem; color: var(--soft); text-align: center; }
        table + .empty { border-top: 1px solid var(--line); }
        .empty .icon { width: 3.5rem; height: 3.5rem; opacity: 0.45; filter: grayscale(0.6); }
        .empty p { margin: 0.75rem 0 0; }

        @media (max-width: 40rem) {
            body { padding: 1rem 0 2rem; }
            header { margin: 0 1rem 0.875rem; }
            main { border-width: 1px 0; border-radius: 0; box-shadow: none; }
            table, thead, tbody { display: block; }
            thead tr { display: flex; box-shadow: inset 0 -1px var(--line); }
            thead th { position: static; background: none; box-shadow: none; }
            .size, .time { width: auto; }
            thead .name { flex: 1; }
            th:not(:has(button)), th button { padding: 0.75rem 0.75rem 0.75rem 0; }
            th.name:not(:has(button)), th.name button { padding-inline-start: 1rem; }
            th.time:not(:has(button)), th.time button { padding-inline-end: 1rem; }
            tbody tr {
                position: relative; display: grid; grid-template-columns: 1fr auto;
                padding: 0.625rem 1rem 0.625rem 3.25rem; border-top: 1px solid var(--line);
            }
            thead + tbody tr:first-child, table > tbody:first-child tr:first-child {
                border-top: 0;
            }
            tr:hover { background: var(--hover); }
            tbody td { border: 0; }
            td.name { grid-column: 1 / -1; }
            td a { min-height: 0; padding: 0; }
            td a::after { content: ""; position: absolute; inset: 0; }
            td .icon { position: absolute; inset: 0 auto 0 1rem; margin: auto 0; }
            td.time { order: 1; text-align: start; }
            td.size { order: 2; }
            td.size, td.time { padding: 0.125rem 0 0; font-size: 0.8125rem; }
        }
        @media print {
            body { max-width: none; padding: 0; }
            main { border: 0; box-shadow: none; }
        }

        """

    static let script = """

        "use strict";
        (() => {
            const body = document.getElementById("entries");
            const heads = document.querySelectorAll("thead th");
            if (!body || !heads.length) return;
            const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
            const entries = Array.from(body.rows, (row) => ({
                row,
                isDirectory: row.classList.contains("directory"),
                keys: [
                    row.cells[0].textContent,
                    Number(row.cells[1].dataset.value),
                    Number(row.cells[2].dataset.value),
                ],
            }));
            const compareNames = (a, b) => collator.compare(a.keys[0], b.keys[0]);
            const sort = (column, sign) => {
                const compare = column
                    ? (a, b) => sign * (a.keys[column] - b.keys[column]) || compareNames(a, b)
                    : (a, b) => sign * compareNames(a, b);
                entries.sort((a, b) => b.isDirectory - a.isDirectory || compare(a, b));
                body.append(...entries.map((entry) => entry.row));
            };
            heads.forEach((head, column) => {
                const button = document.createElement("button");
                button.type = "button";
                button.append(...head.childNodes);
                head.append(button);
                button.addEventListener("click", () => {
                    const order = head.getAttribute("aria-sort") || (column ? "ascending" : "none");
                    const isAscending = order !== "ascending";
                    heads.forEach((other) => other.removeAttribute("aria-sort"));
                    head.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
                    sort(column, isAscending ? 1 : -1);
                });
            });
        })();

        """
}

extension DirectoryListing {
    /// The value of `Content-Security-Policy` for the page. It allows the style and the script, by
    /// their hashes, and `data:` images.
    package static let contentSecurityPolicy = [
        "default-src 'none'",
        "style-src 'sha256-\(styleHash)'",
        "script-src 'sha256-\(scriptHash)'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    ].joined(separator: "; ")

    private static let styleHash = "8IiAxtO2u9ws58FvFK6lEhZBjUbYsKUJpOA8YvHeUVg="
    private static let scriptHash = "CktO//hcu/3Q++bXe2XnjkpgbZMS6mLKdKL0b0hMAjE="
}
