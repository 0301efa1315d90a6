/// A program for Node.js that uploads on the page over connections that break, pauses and
/// continues uploads, and answers the page's questions.
enum UploaderSender {
    static let program = #"""
        // node sender.mjs PROGRAM ADDRESS SOURCE TARGET AXE TASK…
        // SOURCE contains the files to upload, TARGET gets screenshots, AXE is the file of axe-core
        // or "". A task is the name of a function below, followed by arguments after colons.
        import { readdirSync, rmSync, writeFileSync } from "node:fs";
        import { join } from "node:path";
        import { Browser, until } from "./chrome.mjs";

        const [program, address, source, target, axe, ...tasks] = process.argv.slice(2);
        const browser = new Browser(program);
        const steps = [];
        const faults = [];
        const violations = [];
        const find = (name) => `document.getElementById("${name}")`;
        const row = (name) => `[...document.querySelectorAll("#transfer-list li")]
            .find((one) => one.querySelector(".title").textContent === "${name}")`;
        const state = (name) => `${row(name)}?.className`;
        const note = (name) => `${row(name)}?.querySelector(".state").textContent`;
        const press = (name, text) => `[...${row(name)}.querySelectorAll("button")]
            .find((one) => one.textContent === "${text}")`;
        const sent = (name) => `(${row(name)}?.querySelector("progress").value ?? 0)`;
        const link = (name) => `[...document.querySelectorAll("#entries td.name a")]
            .find((one) => one.textContent === "${name}")`;
        const said = (text) => `${find("status")}.textContent.includes("${text}")`;
        const has = (dialog) => `${find(dialog)}.open`;
        const file = (name) => join(source, name);
        const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

        async function visit() {
            const page = await browser.open();
            // Browsers report broken connections and refusals, which are expected here.
            page.expected = /net::ERR_|status of 40[49]/;
            await page.look({});
            await page.goto(address);
            await page.until(`${find("status")}.textContent.includes("items")`);
            return page;
        }

        const choose = (page, ...names) => page.choose(find("files-input"), names.map(file));
        const check = async (page, name) => { violations.push(...await page.check(axe, name)); };

        async function pictures(page, name) {
            for (const dark of [false, true]) {
                for (const phone of [false, true]) {
                    await page.look({ dark, phone });
                    await page.shot(join(target,
                        `${name}-${phone ? "phone" : "desktop"}-${dark ? "dark" : "light"}.png`));
                    if (await page.get(
                        "document.documentElement.scrollWidth > document.documentElement.clientWidth")) {
                        faults.push(`${name} is too wide: phone ${phone}`);
                    }
                }
            }
            await page.look({});
        }

        // Leaves the page while a file is sent.
        async function leave(page, name) {
            await page.click(find("clear"));
            await choose(page, name);
            await page.until(`${sent(name)} > 9e6`);
            await page.goto(address);
            await page.until(`${state(name)} === "interrupted"`);
        }

        const tasksByName = {
            // Uploads a file over a connection that breaks; a reloaded page sends the second half.
            async whole(patience, isReloaded) {
                let page = await visit();
                await choose(page, "big.bin");
                if (isReloaded) {
                    await page.until(`${sent("big.bin")} > ${row("big.bin")}.querySelector("progress").max / 2`, 300);
                    await page.goto(address);
                    await page.until(`${state("big.bin")} === "interrupted"`);
                    // The page shows the offset of the server, not the one that the browser stored.
                    const id = await page.get("JSON.parse(Object.values(localStorage)[0]).id");
                    const known = await fetch(`${address}.uploads/${id}`, { method: "HEAD" });
                    const offset = known.headers.get("upload-offset");
                    await page.until(`${sent("big.bin")} === ${offset}`);
                    await check(page, "interrupted");
                    await pictures(page, "interrupted");
                    // Another file of this name is not appended to it.
                    await page.choose(`${row("big.bin")}.querySelector("input[type=file]")`, [file("other/big.bin")]);
                    await page.until(`${note("big.bin")}.includes("another file")`);
                    await page.choose(`${row("big.bin")}.querySelector("input[type=file]")`, [file("big.bin")]);
                }
                await page.until(`["done", "failed"].includes(${state("big.bin")})`, Number(patience));
                steps.push(`${await page.get(state("big.bin"))}: ${await page.get(note("big.bin"))}`);
                steps.push(`kept: ${await page.get("Object.keys(localStorage).length")}`);
                return page;
            },

            // The page knows the limit, and does not send a file above it.
            async limits() {
                const page = await visit();
                await choose(page, "long.bin", "a.txt");
                await page.until(`${state("a.txt")} === "done"`);
                steps.push(`${await page.get(state("long.bin"))}: ${await page.get(note("long.bin"))}`);
                await page.until(`!!${link("a.txt")}`);
                const buttons = await page.get(`${row("long.bin")}.querySelectorAll("button").length`);
                if (buttons !== 0) faults.push("it can be tried again");
                const names = await page.get(`performance.getEntriesByType("resource")
                    .map((one) => new URL(one.name))
                    .filter((one) => one.pathname.endsWith("/upload"))
                    .map((one) => one.searchParams.get("name"))`);
                steps.push(`sent: ${names.join(", ")}`);
                await check(page, "limit");
                await pictures(page, "limit");
                return page;
            },

            // The token is invalid, and the browser does not read the refusal; the next request
            // has a new token.
            async renews() {
                const page = await visit();
                await page.get(`(() => {
                    const { send, setRequestHeader } = XMLHttpRequest.prototype;
                    let isBroken = false;
                    globalThis.sentTokens = [];
                    XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
                        if (name === "X-Upload-Token") sentTokens.push(value);
                        setRequestHeader.call(this, name, value);
                    };
                    XMLHttpRequest.prototype.send = function (content) {
                        if (!content || isBroken) return send.call(this, content);
                        isBroken = true;
                        this.onerror();
                    };
                    ${find("uploader")}.dataset.token = "0.0";
                })()`);
                await choose(page, "a.txt");
                await page.until(`${state("a.txt")} === "failed"`);
                await page.click(press("a.txt", "Retry"));
                await page.until(`${state("a.txt")} === "done"`);
                const isNew = await page.get(`sentTokens[1] !== "0.0"`);
                steps.push(`sent ${await page.get("sentTokens.length")} times, new: ${isNew}`);
                return page;
            },

            async stops() {
                const page = await visit();
                await page.network(1 << 20);
                await choose(page, "one.bin", "two.bin");
                await page.until(`${sent("one.bin")} > 1e6 && ${sent("two.bin")} > 1e6`);
                // A download does not leave the page, and does not end its uploads.
                await browser.send("Browser.setDownloadBehavior", {
                    behavior: "allow", downloadPath: target, eventsEnabled: true,
                });
                await page.click(find("folder"));
                await until("download", () =>
                    readdirSync(target).some((name) => name.endsWith(".zip")));
                if (page.questions > 0) faults.push("a download asks whether to leave the page");
                steps.push("download");
                await check(page, "running");
                await pictures(page, "running");
                await page.click(press("one.bin", "Pause"));
                await page.until(`${state("one.bin")} === "paused"`);
                await check(page, "paused");
                const before = await page.get(sent("one.bin"));
                await pause(500);
                if (await page.get(sent("one.bin")) !== before) faults.push("a pause is none");
                await page.click(press("one.bin", "Continue"));
                await page.until(`${state("one.bin")} === "running"`);
                steps.push("pause");
                // Running uploads are not offered in another tab.
                const other = await visit();
                await other.until(`document.querySelectorAll("#transfer-list li").length === 0`);
                if (await other.get("Object.keys(localStorage).length") !== 2) faults.push("not kept");
                faults.push(...other.faults);
                await other.send("Page.close");
                steps.push("other tab");
                await page.click(find("pause-all"));
                await page.until(`${state("one.bin")} === "paused" && ${state("two.bin")} === "paused"`);
                await page.until(`document.activeElement === ${find("continue-all")}`);
                await page.network(-1, true);
                await page.click(find("continue-all"));
                await page.until(`${note("one.bin")}.includes("trying again")`);
                await check(page, "no network");
                await page.network(-1);
                await page.until(`${state("one.bin")} === "done" && ${state("two.bin")} === "done"`);
                steps.push("no network");
                await page.network(1 << 20);
                await choose(page, "three.bin");
                await page.until(`${sent("three.bin")} > 1e6`);
                await page.click(press("three.bin", "Cancel"));
                await page.until(`${state("three.bin")} === "cancelled"`);
                await page.until("Object.keys(localStorage).length === 0");
                steps.push("cancel");
                await leave(page, "three.bin");
                await page.click(press("three.bin", "Discard"));
                await page.until(`${state("three.bin")} === "cancelled"`);
                // The page has no reference to the file.
                const left = await page.get(`${row("three.bin")}.querySelectorAll("button").length`);
                if (left > 0) faults.push("what was discarded can be tried again");
                await page.until("Object.keys(localStorage).length === 0");
                steps.push("discard");
                // An upload that the server has lost begins again.
                await leave(page, "three.bin");
                const id = await page.get("JSON.parse(Object.values(localStorage)[0]).id");
                const gone = await fetch(`${address}.uploads/${id}`, { method: "DELETE" });
                if (!gone.ok) faults.push(`DELETE: ${gone.status}`);
                // A page that is opened later does not offer to continue it. The stored record
                // stays, because the response is the same for an upload of another user.
                const later = await visit();
                await later.until(`!${row("three.bin")}`);
                if (await later.get("Object.keys(localStorage).length") !== 1) faults.push("forgotten");
                faults.push(...later.faults);
                await later.send("Page.close");
                await page.network(-1);
                await choose(page, "three.bin");
                await page.until(`${state("three.bin")} === "done"`);
                await page.until("Object.keys(localStorage).length <= 1");
                await page.get("localStorage.clear()");
                steps.push("gone");
                return page;
            },

            // By mouse, and only by keys.
            async asks() {
                const page = await visit();
                await choose(page, "a.txt", "b.txt", "c.txt");
                await page.until(`!!${link("a.txt")} && !!${link("b.txt")} && !!${link("c.txt")}`);
                await page.until(said("done: 3"));
                // The page reports the end of an upload, and does not end a renaming.
                await page.get(`${link("a.txt")}.closest("tr").querySelector("button").click()`);
                const isRenaming = `!!document.querySelector("#entries td.name input")`;
                await page.until(isRenaming);
                await choose(page, "d.txt");
                await page.until(said("done: 1"));
                if (!await page.get(isRenaming)) faults.push("an upload ends the renaming");
                await page.key("Escape");
                await page.until(`!!${link("d.txt")}`);
                await page.click(find("clear"));
                steps.push("end");
                await page.get(`${find("conflict")}.value = "ask"`);
                await choose(page, "a.txt", "b.txt", "c.txt");
                await page.until(has("conflict-dialog"));
                await check(page, "question");
                await pictures(page, "question");
                await page.click(`${find("conflict-dialog")}.querySelector("[value=skip]")`);
                await page.until(`${state("a.txt")} === "cancelled" && ${has("conflict-dialog")}`);
                await page.click(`${find("conflict-all")}.querySelector("input")`);
                await page.click(`${find("conflict-dialog")}.querySelector("[value=keep]")`);
                await page.until(`!!${link("b (1).txt")} && !!${link("c (1).txt")}`);
                await page.click(find("clear"));
                steps.push("ask");
                // A conflict that the list does not show is reported by the server.
                await page.drop([file("tree")]);
                await page.until(`!!${link("tree")} && ${state("tree/inner/d.txt")} === "done"`);
                await page.click(find("clear"));
                await page.drop([file("tree")]);
                await page.until(has("conflict-dialog"));
                await page.until(`document.activeElement.value === "keep"`);
                await page.key("Escape");
                await page.until(`!${has("conflict-dialog")} && ${state("tree/inner/d.txt")} === "exists"`);
                await page.get(`${press("tree/inner/d.txt", "Keep both")}.focus()`);
                await page.key("Enter");
                await page.until(`${note("tree/inner/d.txt")}.includes("d (1).txt")`);
                await page.click(find("clear"));
                steps.push("ask late");
                await page.drop([file("a.txt")]);
                await page.until(has("conflict-dialog"));
                await page.key("Tab");
                await page.until(`document.activeElement.value === "replace"`);
                await page.key("Enter");
                await page.until(`${state("a.txt")} === "done"`);
                steps.push("ask by keys");
                await page.click(find("clear"));
                // A small file that is removed before it is sent.
                writeFileSync(file("e.txt"), "content");
                await choose(page, "e.txt");
                await page.until(`${state("e.txt")} === "done" && !!${link("e.txt")}`);
                await page.click(find("clear"));
                await choose(page, "e.txt");
                await page.until(has("conflict-dialog"));
                rmSync(file("e.txt"));
                await page.click(`${find("conflict-dialog")}.querySelector("[value=keep]")`);
                await page.until(`${state("e.txt")} === "failed"`);
                const reason = await page.get(note("e.txt"));
                if (!reason.includes("cannot be read")) faults.push(`a file that is gone: ${reason}`);
                // Unreadable members of a folder do not prevent the upload of others.
                await page.get(`(() => {
                    const item = (entry) => ({ kind: "file", webkitGetAsEntry: () => entry });
                    const fail = (resolve, reject) => reject(new Error());
                    const event = new Event("drop", { cancelable: true });
                    event.dataTransfer = { types: ["Files"], items: [
                        item({ name: "bad.txt", isFile: true, file: fail }),
                        item({ name: "bad", isFile: false, createReader: () => ({ readEntries: fail }) }),
                        item({ name: "good.txt", isFile: true,
                            file: (resolve) => resolve(new File(["x"], "good.txt")) }),
                    ] };
                    dispatchEvent(event);
                })()`);
                await page.until(`!!${link("good.txt")}`);
                await page.until(said("done: 1. bad.txt: the file cannot be read"));
                steps.push("unreadable");
                // The hash that identifies files is the browser's SHA-256.
                const name = await page.get(`document.querySelector("script").src.replace("page.js", "kept.js")`);
                const isRight = await page.get(`(async () => {
                    const { sha256 } = await import("${name}");
                    for (const count of [0, 1, 55, 56, 63, 64, 65, 70001]) {
                        const bytes = new Uint8Array(count).map((_, index) => index * 7 + count);
                        const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
                        const text = [...hash].map((one) => one.toString(16).padStart(2, "0")).join("");
                        if (text !== sha256(bytes)) return false;
                    }
                    return true;
                })()`);
                if (!isRight) faults.push("SHA-256 is another function");
                return page;
            },
        };

        try {
            for (const task of tasks) {
                const [name, ...words] = task.split(":");
                const page = await tasksByName[name](...words);
                faults.push(...page.faults);
            }
        } catch (error) {
            faults.push(`after ${steps.at(-1)}: ${error.stack}`);
            for (const page of browser.pages) {
                faults.push(...page.faults, await page.get(`document.getElementById("transfer-list")?.innerText`)
                    .catch((problem) => problem.message));
            }
        }
        await browser.end();
        console.log(JSON.stringify({ steps, faults, violations }));
        process.exit(0);
        """#
}
