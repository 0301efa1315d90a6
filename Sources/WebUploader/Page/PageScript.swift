/// The scripts that improve the page of a folder, which also works without them. They insert names
/// as text, never as HTML. No space follows their `import`: otherwise tools that read the imports
/// of Swift files would take such a line for one of them.
enum PageScript {
    /// Sends requests to the server.
    static let api = #"""
        const main = document.getElementById("uploader");
        const texts = JSON.parse(main.dataset.texts);
        let renewing;
        let renewed = performance.now();

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
                const reason = Number.isFinite(body.limit) ? text("overLimit", size(body.limit))
                    : texts[reasons[body.code] ?? reasons[status]];
                super(reason || body.detail || body.title || text("failed"));
                this.status = status;
                this.code = body.code;
                this.limit = body.limit;
            }
        }

        export function problem(status, content) {
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

        // Two requests at the same time would get a cookie each, and only the later would be valid.
        export function renew() {
            renewing ??= exchange("GET", "token", { "Accept": "application/json" }, null, {
                patience: 15000,
            }).then((answer) => {
                settings.token = JSON.parse(answer.responseText).token;
                renewed = performance.now();
            }).finally(() => { renewing = undefined; });
            return renewing;
        }

        // Renews the token unless it is less than a minute old: it may have expired, or the server
        // may have been restarted.
        export async function renewOld() {
            if (performance.now() - renewed > 60000) await renew();
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
                        "X-Upload-Token": settings.token,
                    },
                    body: fields.map(([name, value]) => `${name}=${value}`).join("&"),
                });
            } catch (error) {
                if (error.code !== "token" || isSecond) throw error;
                await renew();
                return change(action, fields, true);
            }
        }

        // Sends a request by XMLHttpRequest, because `fetch` does not report the progress of
        // content. The request is aborted after `patience` milliseconds without progress. The
        // answer may take four times as long, or, with `awaitsAnswer`, any time: the content cannot
        // be sent again, and the server may need long to process it.
        export function exchange(method, address, fields, content, options = {}) {
            const { signal, onProgress, patience, awaitsAnswer } = options;
            const request = new XMLHttpRequest();
            let timer;
            const stop = () => request.abort();
            const wait = (times) => {
                clearTimeout(timer);
                if (patience) timer = setTimeout(stop, times * patience);
            };
            return new Promise((resolve, reject) => {
                signal?.throwIfAborted();
                signal?.addEventListener("abort", stop);
                request.open(method, address);
                for (const name in fields) request.setRequestHeader(name, fields[name]);
                request.upload.onprogress = (event) => { wait(1); onProgress?.(event.loaded); };
                request.upload.onload = () => {
                    if (awaitsAnswer) clearTimeout(timer); else wait(4);
                };
                request.onload = () => {
                    if (request.status < 300) return resolve(request);
                    const error = problem(request.status, request.responseText);
                    error.isFinal = request.getResponseHeader("Upload-Complete") === "?1";
                    error.offset = request.getResponseHeader("Upload-Offset");
                    reject(error);
                };
                request.onerror = request.onabort = () => {
                    renewed = -Infinity;
                    reject(new Problem(0, { title: text("offline") }));
                };
                wait(content ? 1 : 4);
                request.send(content);
            }).finally(() => {
                clearTimeout(timer);
                signal?.removeEventListener("abort", stop);
            });
        }

        export function element(name, properties, ...children) {
            const made = Object.assign(document.createElement(name), properties);
            made.append(...children);
            return made;
        }

        // Shows control characters and marks of writing direction as escapes.
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

        // A member that cannot be read does not keep others from being read.
        async function walk(entry, prefix, found) {
            const name = prefix + entry.name;
            let inner;
            try {
                if (entry.isFile) {
                    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
                    found.files.push({ file, name });
                    return;
                }
                inner = await members(entry);
            } catch {
                found.unreadable.push(name);
                return;
            }
            if (inner.length === 0) found.folders.push(name);
            for (const member of inner) await walk(member, `${name}/`, found);
        }

        // Files with the names of the folders around them, empty folders, and the names of files
        // and folders that cannot be read.
        export async function dropped(transfer) {
            const found = { files: [], folders: [], unreadable: [] };
            // The browser empties the transfer at the first `await`.
            const entries = [...transfer.items].filter((item) => item.kind === "file")
                .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean);
            for (const entry of entries) {
                if (entry instanceof File) found.files.push({ file: entry, name: entry.name });
                else await walk(entry, "", found);
            }
            return found;
        }

        // The same for chosen or pasted files, whose folders the browser has read.
        export function chosen(list) {
            const files = [...list]
                .map((file) => ({ file, name: file.webkitRelativePath || file.name }));
            return { files, folders: [], unreadable: [] };
        }

        // `onFiles` gets the found files, or a promise of them, because reading folders takes a
        // while.
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
            addEventListener("drop", (event) => {
                if (!hasFiles(event)) return;
                event.preventDefault();
                depth = 0;
                mark(0);
                onFiles(dropped(event.dataTransfer));
            });
            addEventListener("paste", (event) => {
                const files = event.clipboardData?.files ?? [];
                if (files.length > 0) onFiles(chosen(files));
            });
        }

        """#
}
