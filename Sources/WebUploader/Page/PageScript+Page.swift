extension PageScript {
    /// The main script, which connects the others.
    static let page = #"""
        import{ change, clean, element, renewOld, say, settings, text } from "./api.js";
        import* as shown from "./list.js";
        import{ add, recall, whenChanged } from "./transfers.js";
        import{ chosen, watch } from "./drops.js";
        import{ remove, undo } from "./delete.js";
        import{ show } from "./preview.js";

        const find = (name) => document.getElementById(name);
        const mayChange = settings.role === "all";
        document.documentElement.classList.add("js");

        // MARK: The list

        for (const head of document.querySelectorAll("th[data-sort]")) {
            head.replaceChildren(element("button", {
                type: "button", textContent: head.textContent, onclick: () => shown.sortBy(head),
            }));
        }
        document.querySelector("th[data-sort=name]").setAttribute("aria-sort", "ascending");
        find("search").oninput = () => shown.render();
        find("list").onsubmit = (event) => event.preventDefault();
        addEventListener("popstate", () => {
            const link = /[?&]path=([^&]*)/.exec(location.search);
            shown.open(link ? link[1] : "/");
        });
        // Opens folders and shows files within the page, so that uploads continue.
        addEventListener("click", (event) => {
            if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
            const link = event.target.closest?.("a");
            const address = link?.getAttribute("href") ?? "";
            if (address.startsWith("?path=")) {
                event.preventDefault();
                shown.open(address.slice(6), true);
            } else if (link?.closest("#entries") && show(link.closest("tr").entry)) {
                event.preventDefault();
            }
        });
        find("all").onchange = () => shown.chooseAll(find("all").checked);
        find("download").onclick = () => {
            const links = shown.choice().map((entry) => entry.link);
            const query = links.map((link) => `path=${link}`).join("&");
            if (query.length < 4000) save(`download?${query}`); else post(links);
        };

        // Downloads by a link with `download`: a change of the page's address would ask whether to
        // leave the page while uploads run, and an error would replace the page.
        function save(address) {
            const link = element("a", { href: address, download: "", hidden: true });
            document.body.append(link);
            link.click();
            link.remove();
        }

        // The frame that shows an answer that is not a download.
        function frame() {
            const known = find("saving");
            if (known) return known;
            const made = element("iframe", { id: "saving", name: "saving", hidden: true });
            made.onload = () => {
                let address;
                try { address = made.contentWindow.location.href; } catch { /* It is an error page. */ }
                if (address !== "about:blank") say(text("error"));
            };
            document.body.append(made);
            return made;
        }

        // Downloads a selection that is too long for an address.
        async function post(links) {
            // The page could not see the refusal of an expired token.
            try { await renewOld(); } catch (error) { return say(error.message); }
            const fields = [["token", settings.token], ...links.map((link) => ["link", link])]
                .map(([name, value]) => element("input", { type: "hidden", name, value }));
            const form = element("form", {
                method: "post", action: "download", target: frame().name, hidden: true,
            }, ...fields);
            document.body.append(form);
            form.submit();
            form.remove();
        }

        if (mayChange) {
            find("delete").onclick = () => remove(shown.choice());
            find("undo").onclick = undo;
            find("move").onclick = () => shown.move(shown.choice());
            find("create").onsubmit = async (event) => {
                event.preventDefault();
                const input = event.target.elements.namedItem("name");
                if (await shown.create(input.value)) input.value = "";
            };
        }

        // MARK: Uploads

        // `finding` is the result of a search for files, or a promise of it.
        async function take(finding) {
            // Read before waiting: another folder may be shown when the search ends.
            const folder = shown.current();
            const { files, folders, unreadable } = await finding;
            const problems = unreadable.map((name) => `${clean(name)}: ${text("unreadable")}`);
            for (const name of folders) {
                let path = folder.link;
                try {
                    for (const part of name.split("/")) {
                        path += `${encodeURIComponent(part)}/`;
                        await make(path);
                    }
                } catch (error) { problems.push(`${clean(name)}: ${error.message}`); }
            }
            if (files.length > 0) return add(files, folder.link, problems);
            await shown.reload();
            if (problems.length > 0) say(problems.join(". "));
        }

        async function make(path) {
            try { await change("create", [["path", path], ["conflict", "refuse"]]); } catch (error) {
                if (error.code !== "exists") throw error;
            }
        }

        if (find("upload")) {
            watch(take);
            for (const name of ["files-input", "folder-input"]) {
                find(name).onchange = () => {
                    take(chosen(find(name).files));
                    find(name).value = "";
                };
            }
            // No message: the page has just said that the uploads are done.
            whenChanged(() => shown.refresh());
            // Only the script can ask, so the HTML lacks this choice.
            if (find("conflict")) {
                const option = element("option", { value: "ask", textContent: text("ask") });
                find("conflict").append(option);
                if (settings.conflict === "ask") find("conflict").value = "ask";
            }
            recall();
        }

        // MARK: Changes by others

        let source;

        // Browsers allow few connections to one server, so a hidden page closes its connection.
        function listen() {
            source?.close();
            source = undefined;
            if (document.hidden) return;
            const own = new EventSource(`events?path=${shown.current().link}`);
            source = own;
            // No event reports earlier changes, or those while the connection was lost.
            own.onopen = () => shown.refresh();
            own.addEventListener("changed", () => shown.refresh());
            // The browser reconnects by itself after a lost connection, but not after a proxy's
            // error.
            own.onerror = () => {
                if (own.readyState !== EventSource.CLOSED) return;
                setTimeout(() => { if (own === source) listen(); }, 10000);
            };
        }

        shown.whenOpened(listen);
        document.addEventListener("visibilitychange", () => {
            listen();
            if (!document.hidden) shown.refresh();
        });

        // MARK: Keys

        function step(change) {
            const links = [...document.querySelectorAll("#entries td.name a")];
            const index = links.indexOf(document.activeElement);
            const next = index < 0 ? 0 : index + change;
            links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
        }

        addEventListener("keydown", (event) => {
            const isTyping = event.target.matches("input:not([type=checkbox]), select, textarea");
            if (isTyping || document.querySelector("dialog[open]") || event.altKey) return;
            const entry = event.target.closest?.("#entries tr")?.entry;
            const isLink = event.target.matches("td.name a");
            const targets = () => {
                const all = shown.choice();
                return all.length > 0 ? all : entry ? [entry] : [];
            };
            const keys = {
                "ArrowDown": () => step(1),
                "ArrowUp": () => step(-1),
                "/": () => find("search").focus(),
                "Escape": () => shown.chooseAll(false),
            };
            if (entry && isLink) keys[" "] = () => shown.toggle(entry);
            if (mayChange && entry) {
                keys["F2"] = () => shown.rename(entry);
                keys["Delete"] = () => remove(targets());
            }
            const isChord = event.ctrlKey || event.metaKey;
            if (isChord && event.key === "a" && entry) {
                event.preventDefault();
                shown.chooseAll(true);
            } else if (isChord && event.key === "z" && mayChange) {
                event.preventDefault();
                undo();
            } else if (!isChord && keys[event.key]) {
                event.preventDefault();
                keys[event.key]();
            }
        });

        shown.open(settings.link).then(listen);

        """#
}
