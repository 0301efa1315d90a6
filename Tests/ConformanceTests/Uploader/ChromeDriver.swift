/// A module for Node.js that drives a headless Chromium: keys, mouse, files, downloads, colour
/// schemes, screenshots, and the errors that the browser reports.
enum ChromeDriver {
    static let module = #"""
        // Drives a headless Chromium over a pipe, with the protocol of its developer tools.
        import { spawn } from "node:child_process";
        import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
        import { tmpdir } from "node:os";
        import { join } from "node:path";
        import { inflateSync } from "node:zlib";

        const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

        export async function until(name, isMet, seconds = 60) {
            const end = Date.now() + 1000 * seconds;
            for (;;) {
                if (await isMet()) return;
                if (Date.now() > end) throw new Error(`no ${name}`);
                await pause(25);
            }
        }

        // The number of pixels with a colour in a PNG without palette, as the browser makes them.
        export function dots(png, colour) {
            const width = png.readUInt32BE(16);
            const channels = png[25] === 6 ? 4 : 3;
            const parts = [];
            for (let place = 8; place < png.length; place += 12 + png.readUInt32BE(place)) {
                const isData = png.toString("latin1", place + 4, place + 8) === "IDAT";
                if (isData) parts.push(png.subarray(place + 8, place + 8 + png.readUInt32BE(place)));
            }
            const lines = inflateSync(Buffer.concat(parts));
            const length = width * channels;
            let above = Buffer.alloc(length);
            let count = 0;
            for (let start = 0; start < lines.length; start += length + 1) {
                const line = Buffer.from(lines.subarray(start + 1, start + 1 + length));
                for (let index = 0; index < length; index += 1) {
                    const [a, b, c] = [line[index - channels] ?? 0, above[index], above[index - channels] ?? 0];
                    const [x, y, z] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
                    const nearest = x <= y && x <= z ? a : y <= z ? b : c;
                    line[index] += [0, a, b, a + b >> 1, nearest][lines[start]];
                }
                for (let index = 0; index < length; index += channels) {
                    if (colour.every((value, channel) => line[index + channel] === value)) count += 1;
                }
                above = line;
            }
            return count;
        }

        export class Browser {
            constructor(program) {
                this.profile = mkdtempSync(join(tmpdir(), "browser-"));
                this.child = spawn(program, [
                    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
                    `--user-data-dir=${this.profile}`, "--remote-debugging-pipe",
                    ...(process.env.BROWSER_FLAGS || "").split(" ").filter(Boolean), "about:blank",
                ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
                this.pages = [];
                this.waiting = new Map();
                this.listeners = new Set();
                this.number = 0;
                let rest = "";
                this.child.stdio[4].setEncoding("utf8").on("data", (text) => {
                    const parts = (rest + text).split("\0");
                    rest = parts.pop();
                    for (const part of parts) this.take(JSON.parse(part));
                });
            }

            take(message) {
                const waiter = this.waiting.get(message.id);
                if (!waiter) {
                    for (const listener of this.listeners) listener(message);
                    return;
                }
                this.waiting.delete(message.id);
                if (message.error) waiter.reject(new Error(`${waiter.method}: ${message.error.message}`));
                else waiter.resolve(message.result);
            }

            send(method, params = {}, sessionId = undefined) {
                const id = ++this.number;
                this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
                return new Promise((resolve, reject) => {
                    this.waiting.set(id, { resolve, reject, method });
                    // A crashed page never responds.
                    setTimeout(() => {
                        if (this.waiting.delete(id)) reject(new Error(`no answer to ${method}`));
                    }, 60000).unref();
                });
            }

            async open(options = {}) {
                const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
                const { sessionId } = await this.send(
                    "Target.attachToTarget", { targetId, flatten: true });
                const page = new Page(this, sessionId);
                this.pages.push(page);
                for (const domain of ["Page", "Runtime", "Log", "DOM"]) await page.send(`${domain}.enable`);
                page.noScript = options.noScript;
                await page.allow(!options.noScript);
                return page;
            }

            async end() {
                const gone = new Promise((resolve) => this.child.on("exit", resolve));
                this.send("Browser.close").catch(() => {});
                await Promise.race([gone, pause(5000).then(() => this.child.kill("SIGKILL"))]);
                rmSync(this.profile, { recursive: true, force: true, maxRetries: 10 });
            }
        }

        const codes = {
            Enter: 13, Escape: 27, Tab: 9, " ": 32, Delete: 46, ArrowDown: 40, ArrowUp: 38, ArrowLeft: 37,
            ArrowRight: 39, F2: 113, "/": 191, a: 65, z: 90,
        };
        const words = { Enter: "\r", " ": " ", "/": "/" };

        class Page {
            constructor(browser, session) {
                Object.assign(this, { browser, session });
                // Errors of the console, of scripts and of the policy.
                this.faults = [];
                // How often the page has asked for confirmation before it is left.
                this.questions = 0;
                browser.listeners.add((message) => {
                    if (message.sessionId !== session) return;
                    const told = message.params;
                    if (message.method === "Runtime.exceptionThrown") {
                        const { exception, text } = told.exceptionDetails;
                        this.faults.push(exception?.description ?? text);
                    }
                    if (message.method === "Runtime.consoleAPICalled" && told.type !== "log") {
                        this.faults.push(told.args.map((one) => one.value).join(" "));
                    }
                    if (message.method === "Log.entryAdded") {
                        const text = `${told.entry.text} ${told.entry.url ?? ""}`;
                        if (!this.expected?.test(text)) this.faults.push(text);
                    }
                    // The page asks for confirmation before it is left.
                    if (message.method === "Page.javascriptDialogOpening") {
                        this.questions += 1;
                        this.send("Page.handleJavaScriptDialog", { accept: true });
                    }
                    if (message.method === "Page.loadEventFired") this.isLoaded = true;
                    if (message.method === "Page.lifecycleEvent" && told.name === "load") {
                        this.loaded = told.loaderId;
                    }
                });
            }

            send(method, params) { return this.browser.send(method, params, this.session); }

            async goto(url) {
                await this.send("Page.setLifecycleEventsEnabled", { enabled: true });
                // The load event of the empty page may arrive late.
                const { loaderId } = await this.send("Page.navigate", { url });
                await until(`load of ${url}`, () => this.loaded === loaderId);
            }

            allow(isAllowed) {
                return this.send("Emulation.setScriptExecutionDisabled", { value: !isAllowed });
            }

            async get(expression) {
                // Scripts of a page that was loaded without scripts do not run later.
                if (this.noScript) await this.allow(true);
                const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
                    expression, awaitPromise: true, returnByValue: true, userGesture: true,
                });
                if (this.noScript) await this.allow(false);
                if (exceptionDetails) {
                    throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
                }
                return result.value;
            }

            until(expression, seconds) {
                return until(expression, () => this.get(expression), seconds);
            }

            // Emulates a slower network, or none.
            async network(uploadThroughput, offline = false) {
                await this.send("Network.enable");
                await this.send("Network.emulateNetworkConditions", {
                    offline, latency: 0, downloadThroughput: -1, uploadThroughput,
                });
            }

            // Drags files and folders onto the page and drops them.
            async drop(files) {
                const data = { items: [], files, dragOperationsMask: 1 };
                for (const type of ["dragEnter", "dragOver", "drop"]) {
                    await this.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
                }
            }

            async key(key, modifiers = 0) {
                const code = /^[a-z]$/.test(key) ? `Key${key.toUpperCase()}` : key === " " ? "Space" : key;
                const text = modifiers & 6 ? undefined : words[key];
                const event = { key, code, modifiers, windowsVirtualKeyCode: codes[key] };
                await this.send("Input.dispatchKeyEvent", {
                    ...event, type: text ? "keyDown" : "rawKeyDown", text,
                });
                await this.send("Input.dispatchKeyEvent", { ...event, type: "keyUp" });
            }

            type(text) { return this.send("Input.insertText", { text }); }

            // Scrolls to an element and clicks on it; `element` is an expression.
            async click(element) {
                await this.until(`!!(${element})`);
                const { x, y } = await this.get(`(() => {
                    const made = ${element};
                    made.scrollIntoView({ block: "center" });
                    const box = made.getBoundingClientRect();
                    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
                })()`);
                for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) {
                    await this.send("Input.dispatchMouseEvent", {
                        type, x, y, button: type === "mouseMoved" ? "none" : "left", clickCount: 1,
                    });
                }
            }

            async choose(element, files) {
                const { result } = await this.send("Runtime.evaluate", { expression: element });
                await this.send("DOM.setFileInputFiles", { files, objectId: result.objectId });
            }

            async look({ dark = false, phone = false }) {
                await this.send("Emulation.setEmulatedMedia", {
                    features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
                });
                await this.send("Emulation.setDeviceMetricsOverride", {
                    width: phone ? 390 : 1200, height: phone ? 844 : 800, deviceScaleFactor: phone ? 2 : 1,
                    mobile: phone,
                });
            }

            async shot(file) {
                const { data } = await this.send("Page.captureScreenshot", {});
                writeFileSync(file, Buffer.from(data, "base64"));
                return Buffer.from(data, "base64");
            }

            // The violations that axe-core finds, in the light and the dark scheme.
            async check(axe, state) {
                if (!axe) return [];
                const found = [];
                for (const dark of [false, true]) {
                    await this.look({ dark, phone: state.startsWith("phone") });
                    await this.get(`${readFileSync(axe, "utf8")};0`);
                    const violations = await this.get(`axe.run(document, { resultTypes: ["violations"] })
                        .then((result) => result.violations.map((one) =>
                            one.id + ": " + one.nodes.map((node) => node.html).join(" | ")))`);
                    for (const violation of violations) {
                        found.push(`${state}, ${dark ? "dark" : "light"}: ${violation.slice(0, 600)}`);
                    }
                }
                await this.look({ phone: state.startsWith("phone") });
                return found;
            }
        }
        """#
}
