extension PageScript {
    /// Puts everything together.
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
        // Folders are opened in the page, so that uploads go on, and files are shown.
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

        // By a link that downloads: another address of the page would ask whether to leave it while
        // uploads run, and an error would take its place.
        function save(address) {
            const link = element("a", { href: address, download: "", hidden: true });
            document.body.append(link);
            link.click();
            link.remove();
        }

        // The frame in which an answer that is no download is left.
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

        // A selection that is too long for an address.
        async function post(links) {
            // The answer to a token that is too old would not be seen.
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

        // `finding` is what was found, or the promise of it.
        async function take(finding) {
            // The folder that is shown now, and not the one that is shown when all is found.
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
            // Only a script can ask.
            if (find("conflict")) {
                const option = element("option", { value: "ask", textContent: text("ask") });
                find("conflict").append(option);
                if (settings.conflict === "ask") find("conflict").value = "ask";
            }
            recall();
        }

        // MARK: Changes of others

        let source;

        // Browsers have few connections for one server: a page that nobody looks at gives its own up.
        function listen() {
            source?.close();
            source = undefined;
            if (document.hidden) return;
            const own = new EventSource(`events?path=${shown.current().link}`);
            source = own;
            // No event reports earlier changes, or those while the connection was lost.
            own.onopen = () => shown.refresh();
            own.addEventListener("changed", () => shown.refresh());
            // The browser comes back by itself after a lost connection, not after an error of a proxy.
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
