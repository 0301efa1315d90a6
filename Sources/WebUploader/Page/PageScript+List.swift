extension PageScript {
    /// The list of the shown folder's members.
    static let list = #"""
        import{ change, clean, element, encode, list, say, settings, size, text } from "./api.js";

        const mayChange = settings.role === "all";
        const body = document.getElementById("entries");
        const crumbs = document.getElementById("crumbs");
        const search = document.getElementById("search");
        const chosen = new Set();
        let folder = { link: settings.link, path: "/", entries: [] };
        let order = { key: "name", sign: 1 };
        let shown = [];
        let visit = 0;
        let refreshes = 0;
        let onOpen = () => {};
        let isStale = false;

        const language = document.documentElement.lang;
        const collator = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
        const dates = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

        export function current() { return folder; }
        export function all() { return shown; }
        export function whenOpened(body) { onOpen = body; }

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
                if (!isSame || isNew) onOpen();
                say(text("items", folder.entries.length));
            } catch (error) {
                if (number === visit) say(error.message);
            }
        }

        export function reload() { return open(folder.link); }

        // Updates the list after a change of the folder, without a message. The update waits while
        // a name is typed or a dialog is open.
        export async function refresh() {
            isStale = true;
            if (body.querySelector("td.name input") || document.querySelector("dialog[open]")) return;
            isStale = false;
            const number = visit;
            const turn = refreshes += 1;
            try {
                const found = await list(folder.link);
                // An older answer may arrive last.
                if (turn !== refreshes || number !== visit || found.link !== folder.link) return;
                if (body.querySelector("td.name input")) { isStale = true; return; }
                if (JSON.stringify(found) === JSON.stringify(folder)) return;
                folder = found;
                render();
            } catch { /* The next event or click tries again. */ }
        }

        export function catchUp() { if (isStale) refresh(); }

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
            document.getElementById("folder").href = `download?path=${folder.link}`;
            document.title = names.reverse().slice(0, 1)
                .concat(links.length ? [settings.title] : []).join(" \u2039 ");
        }

        function row(entry) {
            const isFolder = entry.type === "folder";
            const name = element("a", {
                href: `${isFolder ? "" : "download"}?path=${entry.link}`,
                textContent: clean(entry.name), dir: "auto",
            });
            // A download link does not leave the page, on which uploads may be running.
            if (!isFolder) name.download = "";
            const when = element("time", {
                dateTime: entry.modified, textContent: dates.format(new Date(entry.modified)),
            });
            const made = element("tr", { className: entry.type });
            const box = element("input", { type: "checkbox", checked: chosen.has(entry.link) });
            box.setAttribute("aria-label", text("select", clean(entry.name)));
            box.onchange = () => choose(entry, box.checked);
            made.append(
                element("td", { className: "check" }, box),
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
            const held = document.activeElement;
            const active = held?.closest?.("#entries tr")?.entry?.link;
            const kind = ["input[type=checkbox]", "button"].find((kind) => held?.matches(kind));
            const wanted = search.value.trim().toLocaleLowerCase();
            shown = folder.entries
                .filter((entry) => entry.name.toLocaleLowerCase().includes(wanted)).sort(compare);
            const links = new Set(folder.entries.map((entry) => entry.link));
            for (const link of [...chosen]) if (!links.has(link)) chosen.delete(link);
            body.replaceChildren(...shown.map(row));
            document.getElementById("empty").hidden = shown.length > 0;
            if (active) rowOf(active)?.querySelector(kind ?? "td.name a")?.focus();
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

        // Entries that a search hides stay selected, but operations leave them out.
        export function choice() {
            return shown.filter((entry) => chosen.has(entry.link));
        }

        function showChoice() {
            const all = document.getElementById("all");
            const count = choice().length;
            all.checked = shown.length > 0 && shown.every((entry) => chosen.has(entry.link));
            all.indeterminate = count > 0 && !all.checked;
            document.getElementById("selection").hidden = count === 0;
            document.getElementById("selected").textContent = text("selected", count);
        }

        // MARK: Changes

        export function rename(entry) {
            const cell = rowOf(entry.link).querySelector("td.name");
            const link = cell.firstChild;
            const input = element("input", { value: entry.name, maxLength: 255 });
            input.setAttribute("aria-label", text("newName"));
            let isOver = false;
            const end = (isByKey) => {
                if (isOver) return;
                isOver = true;
                cell.replaceChildren(link);
                // After a click elsewhere the focus stays at that place, unless it is in another
                // window.
                if (isByKey || !document.hasFocus()) link.focus();
                catchUp();
            };
            input.onblur = () => end(false);
            input.onkeydown = async (event) => {
                event.stopPropagation();
                // These keys belong to an input method, whose Enter ends a word. Some browsers show
                // it only by the code 229.
                if (event.isComposing || event.keyCode === 229) return;
                if (event.key === "Escape") end(true);
                if (event.key !== "Enter") return;
                event.preventDefault();
                const name = input.value;
                end(true);
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

        // Opens a dialog, and returns the value of the pressed button; empty if no button was
        // pressed.
        export function answerOf(dialog) {
            dialog.returnValue = "";
            dialog.showModal();
            return new Promise((resolve) => {
                dialog.onclose = () => {
                    // The event is late: it may belong to an earlier answer.
                    if (dialog.open) return;
                    catchUp();
                    resolve(dialog.returnValue);
                };
            });
        }

        // Runs `body` for all entries, even if it fails for some of them.
        export async function each(entries, body) {
            const [done, problems] = [[], []];
            for (const entry of entries) {
                try { await body(entry); done.push(entry); } catch (error) {
                    problems.push(`${clean(entry.name)}: ${error.message}`);
                }
            }
            await reload();
            return { done, problems };
        }

        export function tell(key, { done, problems }, more = []) {
            say([text(key, done.length), ...problems, ...more].join(". "));
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
}
