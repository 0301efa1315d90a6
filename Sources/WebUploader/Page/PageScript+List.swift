extension PageScript {
    /// The members of the folder that is shown.
    static let list = #"""
        import{ change, element, encode, list, say, settings, size, text } from "./api.js";

        const mayChange = settings.role === "all";
        const body = document.getElementById("entries");
        const crumbs = document.getElementById("crumbs");
        const search = document.getElementById("search");
        const chosen = new Set();
        let folder = { link: settings.link, path: "/", entries: [] };
        let order = { key: "name", sign: 1 };
        let shown = [];
        let visit = 0;

        const language = document.documentElement.lang;
        const collator = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
        const dates = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

        export function current() { return folder; }

        // What would turn or break the line is shown as what it is.
        function clean(name) {
            return name.replace(/[\u0000-\u001f\u007f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
                (mark) => `\\u{${mark.codePointAt(0).toString(16).toUpperCase()}}`);
        }

        function compare(one, other) {
            if (one.type !== other.type) return one.type === "folder" ? -1 : 1;
            const names = collator.compare(one.name, other.name);
            if (order.key === "name") return order.sign * names;
            const [first, second] = [one[order.key] ?? 0, other[order.key] ?? 0];
            if (first === second) return names;
            return order.sign * (first < second ? -1 : 1);
        }

        export async function open(link, isNew) {
            const number = ++visit;
            say(text("loading"));
            try {
                const found = await list(link);
                if (number !== visit) return;
                const isSame = found.link === folder.link;
                folder = found;
                if (!isSame) { chosen.clear(); search.value = ""; }
                if (isNew) history.pushState(null, "", `?path=${folder.link}`);
                showCrumbs();
                render();
                say(text("items", folder.entries.length));
            } catch (error) {
                if (number === visit) say(error.message);
            }
        }

        export function reload() { return open(folder.link); }

        function showCrumbs() {
            const links = folder.link.split("/").filter(Boolean);
            const names = [settings.title, ...links.map((link) => {
                try { return clean(decodeURIComponent(link)); } catch { return link; }
            })];
            crumbs.replaceChildren(...names.map((name, index) => {
                const link = index === 0 ? "/" : `/${links.slice(0, index).join("/")}/`;
                const step = element("a", { href: `?path=${link}`, textContent: name, dir: "auto" });
                if (index === names.length - 1) step.setAttribute("aria-current", "page");
                return element("li", {}, step);
            }));
            document.title = names.reverse().slice(0, 1)
                .concat(links.length ? [settings.title] : []).join(" \u2039 ");
        }

        function row(entry) {
            const isFolder = entry.type === "folder";
            const name = element("a", {
                href: `${isFolder ? "" : "download"}?path=${entry.link}`,
                textContent: clean(entry.name), dir: "auto",
            });
            const when = element("time", {
                dateTime: entry.modified, textContent: dates.format(new Date(entry.modified)),
            });
            const made = element("tr", { className: entry.type });
            if (mayChange) {
                const box = element("input", { type: "checkbox", checked: chosen.has(entry.link) });
                box.setAttribute("aria-label", text("select", clean(entry.name)));
                box.onchange = () => choose(entry, box.checked);
                made.append(element("td", { className: "check" }, box));
            }
            made.append(
                element("td", { className: "name" }, name),
                element("td", { className: "size", textContent: isFolder ? "" : size(entry.size) }),
                element("td", { className: "modified" }, when));
            if (mayChange) {
                const button = element("button", {
                    type: "button", textContent: "\u270E", title: text("rename"), onclick: () => rename(entry),
                });
                button.setAttribute("aria-label", `${text("rename")}: ${clean(entry.name)}`);
                made.append(element("td", { className: "act" }, button));
            }
            made.classList.toggle("chosen", chosen.has(entry.link));
            made.entry = entry;
            return made;
        }

        export function render() {
            const active = document.activeElement?.closest?.("#entries tr")?.entry?.link;
            const wanted = search.value.trim().toLocaleLowerCase();
            shown = folder.entries
                .filter((entry) => entry.name.toLocaleLowerCase().includes(wanted)).sort(compare);
            const links = new Set(folder.entries.map((entry) => entry.link));
            for (const link of [...chosen]) if (!links.has(link)) chosen.delete(link);
            body.replaceChildren(...shown.map(row));
            document.getElementById("empty").hidden = shown.length > 0;
            if (active) focusOn(active);
            showChoice();
        }

        export function rowOf(link) {
            return [...body.rows].find((made) => made.entry.link === link);
        }

        export function focusOn(link) { rowOf(link)?.querySelector("td.name a")?.focus(); }

        // MARK: Selection

        function choose(entry, isChosen) {
            if (isChosen) chosen.add(entry.link); else chosen.delete(entry.link);
            rowOf(entry.link)?.classList.toggle("chosen", isChosen);
            showChoice();
        }

        export function toggle(entry) {
            const box = rowOf(entry.link)?.querySelector("input[type=checkbox]");
            if (!box) return;
            box.checked = !box.checked;
            choose(entry, box.checked);
        }

        export function chooseAll(isChosen) {
            chosen.clear();
            if (isChosen) for (const entry of shown) chosen.add(entry.link);
            render();
        }

        export function choice() {
            return folder.entries.filter((entry) => chosen.has(entry.link));
        }

        function showChoice() {
            const all = document.getElementById("all");
            if (!all) return;
            all.checked = shown.length > 0 && chosen.size === shown.length;
            all.indeterminate = chosen.size > 0 && chosen.size < shown.length;
            document.getElementById("selection").hidden = chosen.size === 0;
            document.getElementById("selected").textContent = text("selected", chosen.size);
        }

        // MARK: Changes

        export function rename(entry) {
            const cell = rowOf(entry.link).querySelector("td.name");
            const link = cell.firstChild;
            const input = element("input", { value: entry.name, maxLength: 255 });
            input.setAttribute("aria-label", text("newName"));
            let isOver = false;
            const end = () => {
                if (isOver) return;
                isOver = true;
                cell.replaceChildren(link);
                link.focus();
            };
            input.onblur = end;
            input.onkeydown = async (event) => {
                event.stopPropagation();
                if (event.key === "Escape") end();
                if (event.key !== "Enter") return;
                event.preventDefault();
                const name = input.value;
                end();
                if (!name || name === entry.name) return;
                try {
                    const answer = await change("move", [
                        ["path", entry.link], ["newName", encode(name)],
                    ]);
                    await reload();
                    focusOn(answer.items[0].link);
                    say(text("renamed", answer.items[0].name));
                } catch (error) { say(error.message); }
            };
            cell.replaceChildren(input);
            input.focus();
            const dot = entry.type === "folder" ? -1 : entry.name.lastIndexOf(".");
            input.setSelectionRange(0, dot > 0 ? dot : entry.name.length);
        }

        function answerOf(dialog) {
            dialog.returnValue = "";
            dialog.showModal();
            return new Promise((resolve) => {
                dialog.onclose = () => resolve(dialog.returnValue === "yes");
            });
        }

        // The rest is done even if one of them cannot be.
        async function each(entries, body) {
            const [done, problems] = [[], []];
            for (const entry of entries) {
                try { await body(entry); done.push(entry); } catch (error) {
                    problems.push(`${clean(entry.name)}: ${error.message}`);
                }
            }
            await reload();
            return { done, problems };
        }

        function tell(key, { done, problems }) {
            say([text(key, done.length), ...problems].join(". "));
        }

        export async function remove(entries) {
            if (entries.length === 0) return;
            document.getElementById("delete-question").textContent = entries.length === 1
                ? text("deleteOne", clean(entries[0].name))
                : text("deleteSeveral", entries.length);
            if (!await answerOf(document.getElementById("delete-dialog"))) return;
            tell("deleted", await each(entries, (entry) => change("delete", [["path", entry.link]])));
            (body.querySelector("td.name a") || search).focus();
        }

        export async function move(entries) {
            if (entries.length === 0) return;
            const target = document.getElementById("target");
            target.value = folder.path;
            if (!await answerOf(document.getElementById("move-dialog"))) return;
            const to = encode(target.value.replace(/\/*$/, "/")).replaceAll("%2F", "/");
            tell("moved", await each(entries, (entry) => {
                const name = entry.link.replace(/\/$/, "").split("/").pop();
                return change("move", [["oldPath", entry.link], ["newPath", to + name]]);
            }));
        }

        export async function create(name) {
            try {
                const path = folder.link + encode(name);
                const answer = await change("create", [["path", path]]);
                await reload();
                focusOn(answer.items[0].link);
                say(text("created", answer.items[0].name));
                return true;
            } catch (error) { say(error.message); return false; }
        }

        export function sortBy(head) {
            const key = head.dataset.sort;
            order = { key, sign: order.key === key ? -order.sign : key === "name" ? 1 : -1 };
            for (const other of document.querySelectorAll("th[data-sort]")) {
                other.removeAttribute("aria-sort");
            }
            head.setAttribute("aria-sort", order.sign > 0 ? "ascending" : "descending");
            render();
        }

        """#

    /// Puts everything together.
    static let page = #"""
        import{ change, element, say, settings, text } from "./api.js";
        import* as shown from "./list.js";
        import{ add, whenChanged } from "./transfers.js";
        import{ chosen, watch } from "./drops.js";

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
        // Folders are opened in the page, so that uploads go on.
        addEventListener("click", (event) => {
            const link = event.target.closest?.("a[href^='?path=']");
            if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            shown.open(link.getAttribute("href").slice(6), true);
        });
        if (mayChange) {
            find("all").onchange = () => shown.chooseAll(find("all").checked);
            find("delete").onclick = () => shown.remove(shown.choice());
            find("move").onclick = () => shown.move(shown.choice());
            find("create").onsubmit = async (event) => {
                event.preventDefault();
                const input = event.target.elements.namedItem("name");
                if (await shown.create(input.value)) input.value = "";
            };
        }

        // MARK: Uploads

        async function take({ files, folders }) {
            const folder = shown.current();
            for (const name of folders) {
                let path = folder.link;
                for (const part of name.split("/")) {
                    path += `${encodeURIComponent(part)}/`;
                    try { await change("create", [["path", path], ["conflict", "refuse"]]); }
                    catch (error) { if (error.code !== "exists") say(error.message); }
                }
            }
            if (files.length === 0) return shown.reload();
            add(files, folder.link);
        }

        if (find("upload")) {
            watch(take);
            for (const name of ["files-input", "folder-input"]) {
                find(name).onchange = () => {
                    take({ files: chosen(find(name).files), folders: [] });
                    find(name).value = "";
                };
            }
            whenChanged(() => shown.reload());
        }

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
            if (mayChange && entry) {
                keys["F2"] = () => shown.rename(entry);
                keys["Delete"] = () => shown.remove(targets());
                if (isLink) keys[" "] = () => shown.toggle(entry);
            }
            const isChord = event.ctrlKey || event.metaKey;
            if (isChord && event.key === "a" && entry && mayChange) {
                event.preventDefault();
                shown.chooseAll(true);
            } else if (!isChord && keys[event.key]) {
                event.preventDefault();
                keys[event.key]();
            }
        });

        shown.open(settings.link);

        """#
}
