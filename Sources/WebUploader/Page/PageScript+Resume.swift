extension PageScript {
    /// One upload: by the resumable protocol (`Docs/ResumableUploads.md`) if the server offers it
    /// and the file has at least the size of one piece, otherwise in one request.
    static let resume = #"""
        import{ encode, exchange, Problem, renew, renewOld, settings, text } from "./api.js";

        export const pieceBytes = 8388608;
        // In milliseconds. A connection may hang for ever: the network has changed, or a proxy has
        // closed it, and the browser reads no answer before it has written all content.
        const patience = 30000;
        // The first and the longest pause in milliseconds, and the most retries without progress.
        const [shortest, longest, most] = [500, 30000, 10];
        const few = 3;
        const gone = [404, 410];
        // With these statuses the server cannot continue the upload.
        const lost = [400, 413, 415, ...gone];
        const passing = [0, 408, 500, 502, 503, 504];
        const day = 86400;
        let offer;

        // Upload-Limit, a dictionary of numbers, says that uploads can be resumed here.
        function limits(answer) {
            const field = answer.getResponseHeader("Upload-Limit");
            if (field === null) return null;
            const value = (name) => {
                const found = new RegExp(`(?:^|[,\\s])${name}=(\\d{1,15})(?:$|[,;\\s])`).exec(field);
                return found ? Number(found[1]) : undefined;
            };
            const piece = Math.max(pieceBytes, value("min-append-size") ?? 0);
            return {
                size: value("max-size") ?? Infinity,
                piece: Math.max(1, Math.min(piece, value("max-append-size") ?? Infinity)),
                age: value("max-age") ?? day,
            };
        }

        function offered() {
            offer ??= exchange("OPTIONS", "upload", {}, null, { patience }).then(limits, (error) => {
                if ([404, 405, 501].includes(error.status)) return null;
                offer = undefined;
                throw error;
            });
            return offer;
        }

        // Waits for `time` milliseconds, until the network is back, or until `signal` aborts.
        function pause(time, signal) {
            return new Promise((resolve) => {
                const end = () => {
                    clearTimeout(timer);
                    removeEventListener("online", end);
                    signal.removeEventListener("abort", end);
                    resolve();
                };
                const timer = setTimeout(end, time);
                addEventListener("online", end);
                signal.addEventListener("abort", end);
            });
        }

        // The offset of an upload of an earlier page: `null` if the upload is gone, `undefined` if
        // the server does not answer.
        export async function reached(id, size) {
            try {
                const answer = await exchange("HEAD", `.uploads/${id}`, {}, null, { patience });
                const text = answer.getResponseHeader("Upload-Offset") ?? "";
                const offset = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
                return offset <= size ? offset : undefined;
            } catch (error) { return gone.includes(error.status) ? null : undefined; }
        }

        // A listener has `onBegin(id, seconds)`, `onReach(offset)` when the server has stored the
        // bytes before an offset, `onForget()` when the upload is gone, `onProgress(bytes)` and
        // `onBreak()`.
        export class Upload {
            constructor(file, link, name, conflict, listener) {
                Object.assign(this, { file, listener, best: 0 });
                const choice = conflict ? `&conflict=${conflict}` : "";
                this.target = `upload?path=${link}&name=${encode(name)}${choice}`;
            }

            // The upload's address is relative to the page, so that it is right with any proxy.
            get address() { return `.uploads/${this.id}`; }

            // Sends all missing content, and returns the server's answer with the final name.
            async run(signal) {
                this.restarts = this.renewals = 0;
                for (let tries = 0;;) {
                    const before = this.best;
                    try {
                        const answer = await this.step(signal);
                        if (answer) return JSON.parse(answer.responseText);
                    } catch (error) {
                        const way = signal.aborted || tries >= most ? "" : await this.recover(error);
                        if (!way) throw error;
                        const isOffline = navigator.onLine === false;
                        if (way === "later") await this.rest(isOffline ? most : tries, signal);
                        if (!isOffline) tries += 1;
                    }
                    if (this.best > before) tries = 0;
                }
            }

            async rest(tries, signal) {
                this.listener.onBreak();
                // A random part, so that browsers that lost a server do not all return together.
                const time = Math.min(shortest * 2 ** tries, longest);
                await pause(time * (0.75 + Math.random() / 4), signal);
                signal.throwIfAborted();
            }

            step(signal) {
                if (!this.id) return this.begin(signal);
                if (this.offset === undefined) return this.ask(signal);
                return this.append(signal);
            }

            // Whether to retry after an error: `now`, `later`, or not at all (false).
            async recover(error) {
                const isKept = this.id && !error.isFinal;
                // A file that has changed or has become unreadable causes the same error as a
                // broken connection.
                if (error.status === 0) await this.requireFile();
                if (this.id && (error.isFinal || lost.includes(error.status))) this.forget();
                if (error.code === "token") {
                    this.renewals += 1;
                    return this.renewals <= few && await renew().then(() => "now", () => "");
                }
                if (isKept && gone.includes(error.status)) return (this.restarts += 1) <= few && "now";
                if (isKept && error.status === 409) return this.agree(error.offset);
                return !error.isFinal && passing.includes(error.status) && "later";
            }

            // Browsers repeat a request by themselves when a reused connection breaks. The server
            // has stored part of the content by then, and reports the new offset.
            async agree(text) {
                const offset = this.number(text);
                if (!(offset <= this.file.size)) return "later";
                await this.reach(offset);
                return "now";
            }

            async requireFile() {
                try { await this.file.slice(0, 1).arrayBuffer(); } catch {
                    throw new Problem(0, { title: text("unreadable") });
                }
            }

            forget() {
                this.id = this.offset = undefined;
                this.listener.onForget();
            }

            async begin(signal) {
                const limits = this.file.size < pieceBytes ? null : await offered();
                if (!limits) return this.sendWhole(signal);
                if (this.file.size > limits.size) {
                    throw new Problem(413, { limit: limits.size });
                }
                this.limits = limits;
                const answer = await exchange("POST", this.target, {
                    "Accept": "application/json", "Content-Type": "application/octet-stream",
                    "Upload-Complete": "?0", "Upload-Length": `${this.file.size}`,
                    "X-Upload-Token": settings.token,
                }, null, { signal, patience });
                const place = answer.getResponseHeader("Location") ?? "";
                const id = /\/\.uploads\/([0-9a-f]{32})$/.exec(place);
                if (!id) throw new Problem(400, {});
                [this.id, this.offset, this.best] = [id[1], 0, 0];
                await this.listener.onBegin(this.id, limits.age);
            }

            async sendWhole(signal) {
                // A refusal for an old token while the file is sent may look like a broken
                // connection.
                await renewOld();
                try {
                    return await exchange("POST", this.target, {
                        "Accept": "application/json", "Content-Type": "application/octet-stream",
                        "X-Upload-Token": settings.token,
                    }, this.file, {
                        signal, patience, awaitsAnswer: true, onProgress: this.listener.onProgress,
                    });
                } catch (error) {
                    // A second request might make a second file.
                    error.isFinal = true;
                    throw error;
                }
            }

            number(text) { return /^\d{1,15}$/.test(text ?? "") ? Number(text) : undefined; }

            // Asks for the offset: after a broken connection only the server knows it.
            async ask(signal) {
                this.limits ??= await offered();
                const answer = await exchange("HEAD", this.address, {}, null, { signal, patience });
                const number = (name) => this.number(answer.getResponseHeader(name));
                const [offset, length] = [number("Upload-Offset"), number("Upload-Length")];
                const isOther = (length ?? this.file.size) !== this.file.size;
                if (isOther || !(offset <= this.file.size)) throw new Problem(410, {});
                await this.reach(offset);
            }

            // Sends one piece. The server makes the file after the last piece.
            async append(signal) {
                const start = this.offset;
                const end = Math.min(start + (this.limits?.piece ?? pieceBytes), this.file.size);
                const isLast = end === this.file.size;
                if (isLast) await renewOld();
                this.offset = undefined;
                const answer = await exchange("PATCH", this.address, {
                    "Accept": "application/json", "Content-Type": "application/partial-upload",
                    "Upload-Complete": isLast ? "?1" : "?0", "Upload-Offset": `${start}`,
                    "X-Upload-Token": settings.token,
                }, this.file.slice(start, end), {
                    signal, patience, onProgress: (sent) => this.listener.onProgress(start + sent),
                });
                if (isLast) return answer;
                await this.reach(end);
            }

            async reach(offset) {
                this.offset = offset;
                this.best = Math.max(this.best, offset);
                this.listener.onProgress(offset);
                await this.listener.onReach(offset);
            }

            // Deletes the upload on the server.
            async discard() {
                if (!this.id) return;
                const address = this.address;
                this.forget();
                await exchange("DELETE", address, {}, null).catch(() => {});
            }
        }

        """#

    /// Unfinished uploads, which the browser keeps.
    static let kept = #"""
        // Unfinished uploads outlive the page in `localStorage`: their address, and hashes that
        // identify the file. Each has a separate entry, because other tabs write theirs.
        const prefix = `uploads ${location.pathname} `;
        const most = 50;
        const sampleBytes = 262144;

        function read(key) {
            try {
                const one = JSON.parse(localStorage.getItem(key));
                const isRight = /^[0-9a-f]{32}$/.test(one.id) && key === prefix + one.id
                    && typeof one.name === "string" && typeof one.link === "string"
                    && [one.size, one.modified, one.offset, one.until].every(Number.isFinite);
                if (isRight && one.until > Date.now()) return one;
            } catch { /* The entry is not ours. */ }
            localStorage.removeItem(key);
        }

        // The unfinished uploads, oldest first; none if the browser keeps nothing, as in some
        // private windows.
        export function unfinished() {
            try {
                const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
                return keys.map(read).filter(Boolean).sort((one, other) => one.until - other.until);
            } catch { return []; }
        }

        export function forget(id) {
            try { localStorage.removeItem(prefix + id); } catch { /* Nothing is kept. */ }
        }

        function write(one) {
            try { localStorage.setItem(prefix + one.id, JSON.stringify(one)); } catch { forget(one.id); }
        }

        export async function keep(one, file, offset) {
            one.first ??= await mark(file, Math.min(sampleBytes, file.size));
            const last = await mark(file, offset);
            Object.assign(one, { offset, last });
            const all = unfinished().filter((other) => other.id !== one.id);
            for (const old of all.slice(0, Math.max(0, all.length + 1 - most))) forget(old.id);
            write(one);
        }

        // Whether a file is the one whose beginning the server has. Content of another file with
        // the same name must not be appended.
        export async function isSame(file, one) {
            if (file.size !== one.size || file.lastModified !== one.modified) return false;
            try {
                const first = await mark(file, Math.min(sampleBytes, file.size));
                return first === one.first && await mark(file, one.offset) === one.last;
            } catch { return false; }
        }

        // The hash of the last bytes before an offset.
        async function mark(file, offset) {
            const piece = file.slice(Math.max(0, offset - sampleBytes), offset);
            return sha256(new Uint8Array(await piece.arrayBuffer()));
        }

        // MARK: SHA-256 (FIPS 180-4). Browsers offer it only in secure contexts, and a page in a
        // local network is not in a secure context.

        function fraction(value) { return (value - Math.floor(value)) * 2 ** 32 | 0; }

        const primes = [];
        for (let number = 2; primes.length < 64; number += 1) {
            if (primes.every((prime) => number % prime !== 0)) primes.push(number);
        }
        const beginning = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
        const factors = primes.map((prime) => fraction(Math.cbrt(prime)));

        function turn(word, count) { return word >>> count | word << 32 - count; }

        function compress(state, view, start, words) {
            for (let index = 0; index < 16; index += 1) words[index] = view.getInt32(start + 4 * index);
            for (let index = 16; index < 64; index += 1) {
                const [x, y] = [words[index - 15], words[index - 2]];
                words[index] = words[index - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >>> 3)
                    + words[index - 7] + (turn(y, 17) ^ turn(y, 19) ^ y >>> 10);
            }
            let [a, b, c, d, e, f, g, h] = state;
            for (let index = 0; index < 64; index += 1) {
                const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g)
                    + factors[index] + words[index] | 0;
                const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
                h = g; g = f; f = e; e = d + one | 0; d = c; c = b; b = a; a = one + two | 0;
            }
            [a, b, c, d, e, f, g, h].forEach((word, index) => { state[index] += word; });
        }

        export function sha256(bytes) {
            const padded = new Uint8Array((bytes.length + 8 >> 6) + 1 << 6);
            padded.set(bytes);
            padded[bytes.length] = 128;
            const view = new DataView(padded.buffer);
            view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
            view.setUint32(padded.length - 4, bytes.length << 3);
            const [state, words] = [Int32Array.from(beginning), new Int32Array(64)];
            for (let start = 0; start < padded.length; start += 64) compress(state, view, start, words);
            return [...state].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
        }

        """#
}
