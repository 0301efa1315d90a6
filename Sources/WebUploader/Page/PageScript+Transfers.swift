extension PageScript {
    /// Uploads: some at a time, each with its progress.
    static let transfers = #"""
        import{ clean, element, Problem, say, settings, size, text } from "./api.js";
        import{ question } from "./ask.js";
        import{ forget, isSame, keep, unfinished } from "./kept.js";
        import{ current } from "./list.js";
        import{ Upload, reached } from "./resume.js";

        const atOnce = 3;
        // The most bytes of one file.
        const limit = settings.limit ? Number(settings.limit) : Infinity;
        const find = (name) => document.getElementById(name);
        const rows = find("transfer-list");
        const all = new Set();
        let finished = 0;
        // The problems of files that were not begun; they are shown again when the others have
        // ended.
        let problems = [];
        let onChange = () => {};

        export function whenChanged(body) { onChange = body; }

        function time(seconds) {
            if (seconds < 60) return `${Math.ceil(seconds)} s`;
            if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`;
            return `${(seconds / 3600).toFixed(1)} h`;
        }

        class Transfer {
            // `wish` has the folder, the name and the size. An upload of an earlier page has
            // `kept`, but no `file`.
            constructor(wish, file, kept) {
                const { link, name, size, batch } = wish;
                Object.assign(this, { link, name, size, batch, file, kept });
                this.state = file ? "waiting" : "interrupted";
                this.sent = kept?.offset ?? 0;
                this.conflict = kept?.conflict ?? find("conflict")?.value;
                this.bar = element("progress", { max: Math.max(size, 1), value: 0 });
                this.bar.setAttribute("aria-label", clean(name));
                this.note = element("span", { className: "state" });
                this.actions = element("span", { className: "actions" });
                const title = element("span", { className: "title", textContent: clean(name), dir: "auto" });
                this.row = element("li", {}, title, this.note, this.bar, this.actions);
                rows.append(this.row);
                all.add(this);
                this.show();
            }

            get isActive() { return this.state === "waiting" || this.state === "running"; }
            get isOver() { return ["done", "cancelled", "failed", "exists"].includes(this.state); }

            // MARK: Appearance

            show(message) {
                this.row.className = this.state;
                this.bar.value = this.state === "done" ? this.bar.max : this.sent;
                const count = `${size(this.sent)} / ${size(this.size)}`;
                if (this.state === "running") {
                    this.note.textContent = message ?? this.speed(count);
                } else {
                    const isPart = this.state === "paused" || this.state === "interrupted";
                    const parts = [isPart && count, message || text(this.state)].filter(Boolean);
                    this.note.textContent = parts.join(" \u00B7 ");
                }
                if (this.shown === this.state) return;
                this.shown = this.state;
                const hadFocus = this.actions.contains(document.activeElement);
                this.actions.replaceChildren(...this.buttons());
                showAll();
                if (!hadFocus) return;
                queueMicrotask(() => (this.actions.querySelector("button") ?? find("clear")).focus());
            }

            speed(count) {
                const seconds = (performance.now() - this.started) / 1000;
                const speed = seconds > 0.5 ? Math.max(0, this.sent - this.before) / seconds : 0;
                if (speed === 0) return count;
                const left = text("left", time((this.size - this.sent) / speed));
                return [count, `${size(speed)}/s`, left].join(" \u00B7 ");
            }

            button(key, body) {
                const made = element("button", { type: "button", textContent: text(key), onclick: body });
                made.setAttribute("aria-label", `${text(key)}: ${clean(this.name)}`);
                return made;
            }

            buttons() {
                const cancel = (key) => this.button(key, () => this.cancel());
                const makers = {
                    waiting: () => [this.button("pause", () => this.pause()), cancel("cancel")],
                    running: () => [this.button("pause", () => this.pause()), cancel("cancel")],
                    paused: () => [this.button("continue", () => this.retry()), cancel("cancel")],
                    interrupted: () => [...this.picker(), cancel("discard")],
                    exists: () => this.choices(),
                    done: () => [],
                    failed: () => [
                        ...this.isTooLong ? [] : [this.button("retry", () => this.retry())],
                        ...this.kept ? [cancel("discard")] : [],
                    ],
                    // A discarded upload of an earlier page has no file.
                    cancelled: () => this.file ? [this.button("retry", () => this.retry())] : [],
                };
                return makers[this.state]();
            }

            choices() {
                const again = (conflict) => () => { this.conflict = conflict; this.retry(); };
                const some = [this.button("keepBoth", again("keep"))];
                if (settings.role === "all") some.push(this.button("replace", again("replace")));
                return [...some, this.button("skip", () => this.end("cancelled"))];
            }

            // A page may not open a file again by itself.
            picker() {
                const input = element("input", { type: "file", hidden: true });
                input.onchange = async () => {
                    const file = input.files[0];
                    if (!file || await this.take(file)) return;
                    this.show(text("otherFile"));
                    say(text("otherFile"));
                };
                return [this.button("chooseAgain", () => input.click()), input];
            }

            // MARK: Actions

            // The kept offset may lack the piece that was being sent when the page was closed.
            async refresh() {
                const offset = await reached(this.kept.id, this.size);
                if (this.state !== "interrupted" || !all.has(this) || offset === undefined) return;
                if (offset !== null) {
                    this.sent = offset;
                    this.show();
                } else if (!this.isTaking) {
                    this.drop();
                }
            }

            // The kept entry stays, because an upload of another user, or to another server at this
            // address, gets the same answer.
            drop() {
                this.row.remove();
                all.delete(this);
                showAll();
            }

            // Resumes an upload of an earlier page, if the file is the same.
            async take(file) {
                this.isTaking = true;
                const isRight = await isSame(file, this.kept).finally(() => { this.isTaking = false; });
                if (!isRight || this.state !== "interrupted") return isRight;
                this.file = file;
                claim();
                this.retry();
                return true;
            }

            async start() {
                this.state = "running";
                const control = this.control = new AbortController();
                [this.started, this.before] = [performance.now(), this.sent];
                this.show();
                try {
                    this.upload ??= this.made();
                    await this.requireSame();
                    const answer = await this.upload.run(control.signal);
                    finished += 1;
                    this.forget();
                    this.end("done", answer.items[0].name);
                } catch (error) {
                    if (!control.signal.aborted) this.fail(error);
                }
            }

            // Some browsers continue to read a file that has changed in the meantime.
            async requireSame() {
                if (!this.kept?.last || await isSame(this.file, this.kept)) return;
                throw new Problem(0, { title: text("unreadable") });
            }

            made() {
                const upload = new Upload(this.file, this.link, this.name, this.conflict, {
                    onBegin: (id, seconds) => {
                        this.kept = {
                            id, link: this.link, name: this.name, size: this.size,
                            modified: this.file.lastModified, conflict: this.conflict,
                            until: Date.now() + 1000 * seconds,
                        };
                        claim();
                        return keep(this.kept, this.file, 0);
                    },
                    onReach: (offset) => this.kept && keep(this.kept, this.file, offset),
                    onForget: () => this.forget(),
                    onBreak: () => this.show(text("retrying")),
                    onProgress: (sent) => { this.sent = sent; if (this.state === "running") this.show(); },
                });
                upload.id = this.kept?.id;
                return upload;
            }

            forget() {
                if (this.kept) forget(this.kept.id);
                this.kept = undefined;
            }

            pause() {
                this.control?.abort();
                this.end("paused");
            }

            async cancel() {
                this.control?.abort();
                this.end("cancelled");
                const upload = this.upload ?? this.made();
                this.upload = undefined;
                await upload.discard();
            }

            retry() {
                this.state = "waiting";
                this.show();
                next();
            }

            fail(error) {
                this.isBroken = error.status === 0;
                this.isTooLong = error.limit !== undefined;
                if (error.code !== "exists" || !settings.choose) {
                    say(`${clean(this.name)}: ${error.message}`);
                    return this.end("failed", error.message);
                }
                this.upload = undefined;
                if (this.conflict === "ask") this.ask(); else this.end("exists");
                next();
            }

            // The entry with this name in the shown list of the folder, if any.
            get other() {
                const folder = current();
                if (folder.link !== this.link) return undefined;
                return folder.entries.find((entry) => entry.name === this.name);
            }

            async ask() {
                this.state = "exists";
                this.show();
                const choice = await question(this.name, this.batch, this.other?.type !== "folder");
                if (this.state !== "exists" || !choice) return;
                if (choice === "skip") return this.end("cancelled");
                this.conflict = choice;
                this.retry();
            }

            end(state, message) {
                if (state === "cancelled") this.sent = 0;
                this.state = state;
                this.show(state === "done" ? `${text("done")}: ${message}` : message);
                next();
            }
        }

        function next() {
            const items = [...all];
            let running = items.filter((item) => item.state === "running").length;
            for (const item of items) {
                if (running >= atOnce) break;
                if (item.state !== "waiting") continue;
                if (item.conflict === "ask" && !item.kept && item.other) {
                    // Ask before sending content that would be refused.
                    item.ask();
                    continue;
                }
                running += 1;
                item.start();
            }
            if (items.some((item) => item.isActive)) return;
            const told = [...finished > 0 ? [text("uploads", finished)] : [], ...problems];
            if (told.length > 0) say(told.join(". "));
            if (finished > 0) onChange();
            [finished, problems] = [0, []];
        }

        // MARK: All uploads

        let isShowing = false;

        // Updates the buttons once after several changes.
        function showAll() {
            if (isShowing) return;
            isShowing = true;
            const had = document.activeElement;
            queueMicrotask(() => {
                isShowing = false;
                showButtons();
                if (!had?.hidden) return;
                ["continue-all", "pause-all", "clear", "search"].map(find)
                    .find((one) => !one.hidden).focus();
            });
        }

        function showButtons() {
            const items = [...all];
            find("transfers").hidden = items.length === 0;
            const isOne = (isMeant) => items.filter(isMeant).length < 2;
            find("pause-all").hidden = isOne((item) => item.isActive);
            find("continue-all").hidden = isOne((item) => item.state === "paused");
            find("clear").hidden = !items.some((item) => item.isOver);
        }

        function each(isMeant, body) { for (const item of [...all]) if (isMeant(item)) body(item); }

        export async function add(files, link, others) {
            if (others.length > 0) say(others.join(". "));
            const batch = { count: files.length };
            const before = [...all].filter((item) => item.state === "interrupted" && item.link === link);
            for (const { file, name } of files) {
                const old = before.find((item) => item.name === name && item.size === file.size);
                if (old && await old.take(file)) continue;
                const made = new Transfer({ link, name, size: file.size, batch }, file);
                // Do not send a file that would be refused.
                if (file.size > limit) made.fail(new Problem(413, { limit }));
            }
            problems.push(...others);
            next();
        }

        find("pause-all").onclick = () => each((item) => item.isActive, (item) => item.pause());
        find("continue-all").onclick = () =>
            each((item) => item.state === "paused", (item) => item.retry());
        find("clear").onclick = () => {
            each((item) => item.isOver, (item) => { item.row.remove(); all.delete(item); });
            showAll();
        };

        addEventListener("beforeunload", (event) => {
            if ([...all].some((item) => item.isActive)) {
                event.preventDefault();
                event.returnValue = text("leave");
            }
        });

        // Retries uploads that failed without a network.
        addEventListener("online", () =>
            each((item) => item.state === "failed" && item.isBroken && item.kept, (item) => item.retry()));

        // MARK: Uploads of earlier pages

        // Other tabs of the page may be sending some of these uploads, and claim them.
        const tabs = globalThis.BroadcastChannel && new BroadcastChannel(`uploads ${location.pathname}`);

        function claim() {
            const mine = [...all].filter((item) => item.file && item.kept).map((item) => item.kept.id);
            if (mine.length > 0) tabs?.postMessage({ mine });
        }

        if (tabs) tabs.onmessage = ({ data }) => {
            if (!data.mine) return claim();
            each((item) => item.state === "interrupted" && data.mine.includes(item.kept.id), (item) => {
                item.drop();
            });
        };

        export function recall() {
            for (const one of unfinished()) new Transfer({ ...one, batch: { count: 1 } }, undefined, one);
            tabs?.postMessage({});
            // By then other tabs have claimed their uploads: asking for an offset would end the
            // request that another tab is sending.
            setTimeout(() => each((item) => item.state === "interrupted", (item) => item.refresh()), 500);
        }

        """#

    /// The dialog that asks for an action when a name is taken.
    static let ask = #"""
        import{ clean, text } from "./api.js";
        import{ answerOf } from "./list.js";

        const find = (name) => document.getElementById(name);
        const dialog = find("conflict-dialog");
        let last = Promise.resolve();

        // Waits until no other dialog is open.
        async function quiet() {
            for (;;) {
                const other = document.querySelector("dialog[open]");
                if (!other) return;
                await new Promise((resolve) => other.addEventListener("close", resolve, { once: true }));
            }
        }

        async function put(name, batch, mayReplace) {
            if (batch.choice) return batch.choice;
            await quiet();
            find("conflict-question").textContent = text("askQuestion", clean(name));
            dialog.querySelector("[value=replace]").hidden = !mayReplace;
            find("conflict-all").hidden = batch.count < 2;
            const box = find("conflict-all").querySelector("input");
            box.checked = false;
            const choice = await answerOf(dialog);
            if (choice && box.checked) batch.choice = choice;
            return choice;
        }

        // Asks one question after the other.
        export function question(name, batch, mayReplace) {
            const asked = last.then(() => put(name, batch, mayReplace));
            last = asked.catch(() => {});
            return asked;
        }

        """#
}
