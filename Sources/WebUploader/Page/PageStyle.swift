/// The style of the page: like a `FileHandler`'s listing, in light and dark.
enum PageStyle {
    static let css = #"""
        :root {
            --page: #f5f6f8; --card: #fff; --text: #1b2029; --soft: #5b6575; --line: #dfe2e8;
            --hover: #f0f4fc; --accent: #1d4ed8; --on-accent: #fff; --danger: #b42318;
            --edge: #868f9e;
            color-scheme: light dark;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --page: #0e1116; --card: #161a21; --text: #e7eaf0; --soft: #a3adbd;
                --line: #2a313d; --hover: #1d232d; --accent: #7db0ff; --on-accent: #0e1116;
                --danger: #ff8f85; --edge: #6b7688;
            }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; scroll-padding-bottom: 7rem; }
        html:not(.js) .enhanced, html.js .plain, [hidden] { display: none !important; }
        body {
            max-width: 60rem; margin: 0 auto; padding: 1.5rem;
            background: var(--page); color: var(--text);
            font: 0.9375rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans",
                sans-serif;
        }
        a { color: var(--accent); }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .heading { font-size: 1.375rem; font-weight: 650; margin: 0 0 0.75rem; }
        h1, h2 { margin: 0 0 0.75rem; font-size: 1.125rem; overflow-wrap: anywhere; }
        footer, .hint { color: var(--soft); font-size: 0.875rem; }
        .hint { margin: 0.5rem 0 0; }
        .card {
            margin: 0 0 0.875rem; padding: 0.875rem 1rem; background: var(--card);
            border: 1px solid var(--line); border-radius: 0.875rem;
        }
        form.card:not(#list) {
            display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center;
        }
        #upload label:has(select), #upload button { order: 1; }
        #upload .hint { order: 2; }
        form .hint { flex-basis: 100%; margin: 0; }
        nav ol {
            display: flex; flex-wrap: wrap; margin: 0 0 0.75rem; padding: 0; list-style: none;
            font-size: 1.0625rem;
        }
        nav li { overflow-wrap: anywhere; }
        nav li:not(:last-child)::after { content: "/"; margin: 0 0.375rem; color: var(--soft); }
        nav li:only-child { display: none; }
        nav a { text-decoration: none; }
        nav a[aria-current] { color: var(--text); font-weight: 650; }
        input, select, button {
            min-height: 2.25rem; padding: 0.25rem 0.625rem; font: inherit; color: inherit;
            background: var(--card); border: 1px solid var(--edge); border-radius: 0.5rem;
            max-width: 100%;
        }
        input[type=file] { border: 0; padding-inline: 0; }
        html.js label:has(input[type=file]) {
            position: relative; padding: 0.4375rem 0.875rem; border: 1px solid var(--edge);
            border-radius: 0.5rem; cursor: pointer;
        }
        html.js label:has(input[type=file]):hover { background: var(--hover); }
        html.js label:has(#files-input), html.js label:has(#files-input):hover {
            background: var(--accent); border-color: var(--accent); color: var(--on-accent);
        }
        html.js label:has(input[type=file]):focus-within {
            outline: 2px solid var(--accent); outline-offset: 2px;
        }
        html.js input[type=file] {
            position: absolute; width: 1px; height: 1px; min-height: 0; overflow: hidden;
            opacity: 0;
        }
        input[type=checkbox] { accent-color: var(--accent); min-height: 0; width: 1.125rem; height: 1.125rem; margin: 0; }
        button { cursor: pointer; white-space: nowrap; }
        button:hover { background: var(--hover); }
        button.primary {
            background: var(--accent); border-color: var(--accent); color: var(--on-accent);
        }
        .danger { color: var(--danger); }
        table { width: 100%; border-collapse: collapse; }
        th { text-align: start; font-weight: 500; color: var(--soft); font-size: 0.8125rem; }
        th button { border: 0; min-height: 1.75rem; padding: 0; background: none; }
        th[aria-sort=ascending] button::after { content: " \2191"; }
        th[aria-sort=descending] button::after { content: " \2193"; }
        td, th { padding: 0.3125rem 0.5rem; border-bottom: 1px solid var(--line); }
        td.check { width: 2.125rem; line-height: 1; }
        tbody tr:last-child td { border-bottom: 0; }
        .act button { border-color: transparent; background: none; color: var(--soft); }
        td.name { overflow-wrap: anywhere; white-space: pre-wrap; }
        td.name a { display: inline-block; padding: 0.25rem 0; text-decoration: none; }
        td.name a:hover { text-decoration: underline; }
        td.name input { width: 100%; }
        tr.folder td.name a { font-weight: 600; }
        tr.folder td.name a::before, tr.file td.name a::before {
            content: ""; display: inline-block; width: 1.125rem; height: 1.125rem;
            margin-inline-end: 0.5rem; vertical-align: -0.1875rem;
            background: center / contain no-repeat;
        }
        tr.folder td.name a::before {
            background-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath fill='%233b82f6' d='M2 6a2 2 0 0 1 2-2h5l2.5 2.5H20a2 2 0 0 1 2 2V18a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2z'/%3E%3C/svg%3E");
        }
        tr.file td.name a::before {
            background-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%2387909f' stroke-width='1.6'%3E%3Cpath d='M6 2.8h8l4.5 4.5v14H6z M14 3v4.5h4.5'/%3E%3C/svg%3E");
        }
        .size, .modified { white-space: nowrap; color: var(--soft); text-align: end; }
        .size, .modified { font-variant-numeric: tabular-nums; }
        tbody tr:hover td, tbody tr.chosen td { background: var(--hover); }
        .act { text-align: end; width: 1%; }
        .actions, .tools {
            display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: center;
            margin: 0.75rem 0 0;
        }
        .tools { margin: 0 0 0.75rem; justify-content: space-between; }
        /* Visible while something is selected, above the notice. */
        #selection {
            position: sticky; bottom: 2.25rem; margin: 0; padding: 0.625rem 0;
            border-top: 1px solid var(--line);
            background: var(--card);
        }
        #empty { padding: 2rem 0; text-align: center; color: var(--soft); }
        #notice {
            position: sticky; bottom: 0; min-height: 2.25rem; margin: 0.5rem 0 0; display: flex;
            gap: 0.75rem; align-items: center; padding: 0.375rem 0.25rem; background: var(--page);
        }
        #status { margin: 0; overflow-wrap: anywhere; }
        #transfer-list { margin: 0; padding: 0; list-style: none; }
        #transfers > .actions:not(:has(> :not([hidden]))) { display: none; }
        #transfer-list li {
            display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.75rem;
            padding: 0.375rem 0; border-bottom: 1px solid var(--line);
        }
        #transfer-list li:last-child { border-bottom: 0; }
        #transfer-list .title { flex: 1 1 8rem; overflow-wrap: anywhere; }
        #transfer-list .state { color: var(--soft); font-variant-numeric: tabular-nums; }
        #transfer-list .failed .state { color: var(--danger); }
        progress { order: 1; width: 100%; accent-color: var(--accent); }
        #transfer-list .actions { margin: 0; }
        #conflict-all { display: flex; gap: 0.5rem; align-items: center; }
        #preview { max-width: min(60rem, calc(100vw - 2rem)); width: 60rem; }
        #preview h2 { margin: 0; }
        #preview .actions { margin: 0.5rem 0 0.75rem; }
        #preview-content { min-height: 6rem; display: grid; place-items: center; gap: 0.5rem; }
        #preview-content > * { max-width: 100%; margin: 0; }
        #preview-content img, #preview-content video { max-height: 70vh; object-fit: contain; }
        #preview-content audio { width: 100%; }
        #preview-content iframe { width: 100%; height: 70vh; border: 0; background: #fff; }
        #preview-content pre {
            width: 100%; max-height: 70vh; overflow: auto; padding: 0.75rem; white-space: pre-wrap;
            overflow-wrap: anywhere; background: var(--page); border-radius: 0.5rem;
            font: 0.8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, monospace;
        }
        @media (hover: none) and (pointer: coarse) { .drop { display: none !important; } }
        body.dropping { outline: 3px dashed var(--accent); outline-offset: -0.5rem; }
        dialog {
            max-width: min(30rem, calc(100vw - 2rem)); padding: 1.25rem; color: var(--text);
            background: var(--card); border: 1px solid var(--line); border-radius: 0.875rem;
        }
        dialog::backdrop { background: rgb(0 0 0 / 45%); }
        dialog input:not([type=checkbox]) { width: 100%; }
        @media (max-width: 40rem) {
            body { padding: 1rem 0.5rem; }
            .card { padding: 0.75rem 0.625rem; }
            .modified { display: none; }
            #transfer-list .actions { order: 2; width: 100%; }
            td, th { padding: 0.375rem 0.25rem; }
            button, select, input:not([type=file], [type=checkbox]) { min-height: 2.75rem; }
            td.name a { padding: 0.625rem 0; }
        }

        """#
}
