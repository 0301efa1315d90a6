/// The scripts of the page. They make the page of a folder better, which works without them; all
/// names get into it by `textContent`. No blank stands behind `import`, as the tools that read the
/// imports of Swift files would take it for one of those.
enum PageScript {
    /// Talks to the server.
    static let api = #"""
        const main = document.getElementById("uploader");
        const texts = JSON.parse(main.dataset.texts);
        let token = main.dataset.token;

        export const settings = main.dataset;
        export const encode = encodeURIComponent;

        export function text(key, value) {
            return value === undefined ? texts[key] : texts[key].replace("%", () => String(value));
        }

        export function say(message) {
            document.getElementById("status").textContent = message;
        }

        const reasons = {
            exists: "exists", locked: "locked", hidden: "hidden", extension: "fileType",
            role: "notAllowed", refused: "notAllowed", 413: "tooLong", 507: "full", 404: "gone",
        };

        export class Problem extends Error {
            constructor(status, body) {
                const reason = texts[reasons[body.code] ?? reasons[status]];
                super(reason || body.detail || body.title || text("failed"));
                this.status = status;
                this.code = body.code;
            }
        }

        function problem(status, content) {
            try { return new Problem(status, JSON.parse(content)); } catch {
                return new Problem(status, { title: status ? `${status}` : text("offline") });
            }
        }

        async function ask(address, options) {
            let answer;
            try { answer = await fetch(address, options); } catch {
                throw new Problem(0, { title: text("offline") });
            }
            const content = await answer.text();
            if (!answer.ok) throw problem(answer.status, content);
            return JSON.parse(content);
        }

        async function renew() {
            const answer = await ask("token", {
                cache: "no-store", headers: { "Accept": "application/json" },
            });
            token = answer.token;
        }

        export async function list(link) {
            let all = [];
            let offset = 0;
            for (;;) {
                const part = await ask(`list?path=${link}&offset=${offset}&limit=10000`, {
                    headers: { "Accept": "application/json" },
                });
                all = all.concat(part.entries);
                if (part.next === undefined || part.next === null) {
                    return { path: part.path, link: part.link, entries: all };
                }
                offset = part.next;
            }
        }

        // `fields` are pairs of a name and a value that is encoded already.
        export async function change(action, fields, isSecond) {
            try {
                return await ask(action, {
                    method: "POST",
                    headers: {
                        "Accept": "application/json",
                        "Content-Type": "application/x-www-form-urlencoded",
                        "X-Upload-Token": token,
                    },
                    body: fields.map(([name, value]) => `${name}=${value}`).join("&"),
                });
            } catch (error) {
                if (error.code !== "token" || isSecond) throw error;
                await renew();
                return change(action, fields, true);
            }
        }

        // Only this tells how much of a file has gone.
        export function send(file, link, name, conflict, onProgress) {
            const request = new XMLHttpRequest();
            let isCancelled = false;
            const attempt = () => new Promise((resolve, reject) => {
                const choice = conflict ? `&conflict=${conflict}` : "";
                request.open("POST", `upload?path=${link}&name=${encode(name)}${choice}`);
                request.setRequestHeader("Accept", "application/json");
                request.setRequestHeader("Content-Type", "application/octet-stream");
                request.setRequestHeader("X-Upload-Token", token);
                request.upload.onprogress = (event) => onProgress(event.loaded);
                request.onload = () => {
                    if (request.status < 300) return resolve(JSON.parse(request.responseText));
                    reject(problem(request.status, request.responseText));
                };
                request.onerror = () => reject(new Problem(0, { title: text("offline") }));
                request.onabort = () => reject(new Problem(0, { title: text("cancelled") }));
                request.send(file);
            });
            const promise = attempt().catch(async (error) => {
                if (error.code !== "token" || isCancelled) throw error;
                await renew();
                return attempt();
            });
            return { promise, cancel() { isCancelled = true; request.abort(); } };
        }

        export function element(name, properties, ...children) {
            const made = Object.assign(document.createElement(name), properties);
            made.append(...children);
            return made;
        }

        // Marks that turn or break the line are shown as escapes.
        export function clean(name) {
            return name.replace(/[\u0000-\u001f\u007f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
                (mark) => `\\u{${mark.codePointAt(0).toString(16).toUpperCase()}}`);
        }

        export function size(bytes) {
            const units = ["B", "KiB", "MiB", "GiB", "TiB"];
            let index = 0;
            while (bytes >= 1023.5 && index < units.length - 1) { bytes /= 1024; index += 1; }
            const digits = index > 0 && bytes < 9.95 ? 1 : 0;
            const number = bytes.toLocaleString(document.documentElement.lang, {
                minimumFractionDigits: digits, maximumFractionDigits: digits,
            });
            return `${number} ${units[index]}`;
        }

        """#

    /// Uploads: some at a time, each with its progress.
    static let transfers = #"""
        import{ element, say, send, settings, size, text } from "./api.js";

        const atOnce = 3;
        const box = document.getElementById("transfers");
        const rows = document.getElementById("transfer-list");
        const all = new Set();
        let finished = 0;
        let onChange = () => {};

        export function whenChanged(body) { onChange = body; }

        function time(seconds) {
            if (seconds < 60) return `${Math.ceil(seconds)} s`;
            if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
            return `${(seconds / 3600).toFixed(1)} h`;
        }

        function button(key, body) {
            return element("button", { type: "button", textContent: text(key), onclick: body });
        }

        class Transfer {
            constructor(file, link, name) {
                Object.assign(this, { file, link, name, state: "waiting", sent: 0 });
                this.conflict = document.getElementById("conflict")?.value;
                this.bar = element("progress", { max: Math.max(file.size, 1), value: 0 });
                this.bar.setAttribute("aria-label", name);
                this.note = element("span", { className: "state" });
                this.actions = element("span", { className: "actions" });
                const title = element("span", { className: "title", textContent: name, dir: "auto" });
                this.row = element("li", {}, title, this.note, this.bar, this.actions);
                rows.append(this.row);
                this.show();
            }

            get isActive() { return this.state === "waiting" || this.state === "running"; }

            show(message) {
                this.row.className = this.state;
                this.bar.value = this.state === "done" ? this.bar.max : this.sent;
                if (this.state === "running") {
                    const seconds = (performance.now() - this.started) / 1000;
                    const speed = seconds > 0.5 ? this.sent / seconds : 0;
                    const parts = [`${size(this.sent)} / ${size(this.file.size)}`];
                    if (speed > 0) {
                        parts.push(`${size(speed)}/s`);
                        parts.push(text("left", time((this.file.size - this.sent) / speed)));
                    }
                    this.note.textContent = parts.join(" \u00B7 ");
                } else {
                    this.note.textContent = message || text(this.state);
                }
                if (this.shown === this.state) return;
                this.shown = this.state;
                const hadFocus = this.actions.contains(document.activeElement);
                this.actions.replaceChildren(...this.buttons());
                if (hadFocus) (this.actions.firstChild || document.getElementById("clear")).focus();
            }

            buttons() {
                if (this.isActive) return [button("cancel", () => this.cancel())];
                if (this.state === "exists") {
                    const again = (conflict) => () => { this.conflict = conflict; this.retry(); };
                    const some = [button("keepBoth", again("keep"))];
                    if (settings.role === "all") some.push(button("replace", again("replace")));
                    return [...some, button("skip", () => this.end("cancelled"))];
                }
                if (this.state === "done") return [];
                return [button("retry", () => this.retry())];
            }

            async start() {
                this.state = "running";
                this.started = performance.now();
                this.show();
                this.request = send(this.file, this.link, this.name, this.conflict, (sent) => {
                    this.sent = sent;
                    this.show();
                });
                try {
                    const answer = await this.request.promise;
                    finished += 1;
                    this.end("done", answer.items[0].name);
                } catch (error) {
                    if (this.state === "cancelled") return;
                    const mayChoose = error.code === "exists" && settings.choose;
                    this.end(mayChoose ? "exists" : "failed", error.message);
                }
            }

            cancel() {
                this.end("cancelled");
                this.request?.cancel();
            }

            retry() {
                this.state = "waiting";
                this.sent = 0;
                this.show();
                next();
            }

            end(state, message) {
                if (state === "cancelled") this.sent = 0;
                this.state = state;
                const shown = state === "done" ? `${text("done")}: ${message}` : message;
                this.show(state === "exists" ? text("exists") : shown);
                next();
            }
        }

        function next() {
            const items = [...all];
            let running = items.filter((item) => item.state === "running").length;
            for (const item of items) {
                if (running >= atOnce) break;
                if (item.state !== "waiting") continue;
                running += 1;
                item.start();
            }
            if (!items.some((item) => item.isActive) && finished > 0) {
                say(text("uploads", finished));
                finished = 0;
                onChange();
            }
        }

        export function add(files, link) {
            for (const { file, name } of files) all.add(new Transfer(file, link, name));
            box.hidden = all.size === 0;
            next();
        }

        document.getElementById("clear").onclick = () => {
            for (const item of [...all]) {
                if (item.isActive) continue;
                item.row.remove();
                all.delete(item);
            }
            box.hidden = all.size === 0;
        };

        addEventListener("beforeunload", (event) => {
            if ([...all].some((item) => item.isActive)) {
                event.preventDefault();
                event.returnValue = text("leave");
            }
        });

        """#

    /// Files that are dropped, pasted or chosen.
    static let drops = #"""
        // A folder is read some members at a time, until there are none.
        async function members(folder) {
            const reader = folder.createReader();
            const all = [];
            for (;;) {
                const some = await new Promise((resolve, reject) =>
                    reader.readEntries(resolve, reject));
                if (some.length === 0) return all;
                all.push(...some);
            }
        }

        async function walk(entry, prefix, found) {
            const name = prefix + entry.name;
            if (entry.isFile) {
                const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
                found.files.push({ file, name });
                return;
            }
            const inner = await members(entry);
            if (inner.length === 0) found.folders.push(name);
            for (const member of inner) await walk(member, `${name}/`, found);
        }

        // The names of files with those of the folders around them, and folders that are empty.
        export async function dropped(transfer) {
            const found = { files: [], folders: [] };
            // What is dropped is gone after the first wait.
            const entries = [...transfer.items].filter((item) => item.kind === "file")
                .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean);
            for (const entry of entries) {
                if (entry instanceof File) found.files.push({ file: entry, name: entry.name });
                else await walk(entry, "", found);
            }
            return found;
        }

        export function chosen(files) {
            return [...files].map((file) => ({ file, name: file.webkitRelativePath || file.name }));
        }

        export function watch(onFiles) {
            let depth = 0;
            const hasFiles = (event) => [...event.dataTransfer.types].includes("Files");
            const mark = (change) => {
                depth = Math.max(0, depth + change);
                document.body.classList.toggle("dropping", depth > 0);
            };
            addEventListener("dragenter", (event) => { if (hasFiles(event)) mark(1); });
            addEventListener("dragleave", (event) => { if (hasFiles(event)) mark(-1); });
            addEventListener("dragover", (event) => {
                if (!hasFiles(event)) return;
                event.preventDefault();
                event.dataTransfer.dropEffect = "copy";
            });
            addEventListener("drop", async (event) => {
                if (!hasFiles(event)) return;
                event.preventDefault();
                depth = 0;
                mark(0);
                onFiles(await dropped(event.dataTransfer));
            });
            addEventListener("paste", (event) => {
                const files = event.clipboardData?.files ?? [];
                if (files.length > 0) onFiles({ files: chosen(files), folders: [] });
            });
        }

        """#
}
