/// A program for Node.js that uses the upload page as a person does: with a mouse, only by keys,
/// and without scripts.
enum UploaderPerson {
    static let program = #"""
        // Uses the page as a person does: node person.mjs PROGRAM ADDRESS SOURCE TARGET [AXE]
        // SOURCE contains the files to upload; downloads and screenshots are written to TARGET.
        import { readdirSync } from "node:fs";
        import { join } from "node:path";
        import { Browser, dots, until } from "./chrome.mjs";

        const [program, address, source, target, axe] = process.argv.slice(2);
        const browser = new Browser(program);
        const steps = [];
        const faults = [];
        const violations = [];
        const link = (name) =>
            `[...document.querySelectorAll("#entries td.name a")].find((one) => one.textContent === "${name}")`;
        const find = (name) => `document.getElementById("${name}")`;
        const names = `[...document.querySelectorAll("#entries td.name a")].map((one) => one.textContent)`;
        const box = (name) => `${link(name)}.closest("tr").querySelector("input")`;
        const said = (text) => `${find("status")}.textContent.includes("${text}")`;

        async function download(page, start) {
            const files = () => readdirSync(target).filter((name) => name.endsWith(".zip"));
            const before = files().length;
            await start();
            await until("download", () => files().length > before);
            return files();
        }

        // A change by another client.
        async function change(action, fields) {
            const answer = await fetch(`${address}${action}`, {
                method: "POST", body: new URLSearchParams(fields),
            });
            if (!answer.ok) faults.push(`another client: ${action} ${answer.status}`);
        }

        async function person() {
            await browser.send("Browser.setDownloadBehavior", {
                behavior: "allow", downloadPath: target, eventsEnabled: true,
            });
            const page = await browser.open();
            await page.look({});
            await page.goto(address);
            await page.until(said("items"));
            violations.push(...await page.check(axe, "empty"));
            steps.push("list");

            const files = readdirSync(join(source, "flat")).map((name) => join(source, "flat", name));
            await page.choose(find("files-input"), files);
            await page.until(`${names}.length === ${files.length}`);
            await page.until(`document.querySelectorAll("#transfer-list .done").length === ${files.length}`);
            violations.push(...await page.check(axe, "uploads"));
            await page.click(find("clear"));
            steps.push("files");
            await page.choose(find("folder-input"), [join(source, "tree")]);
            await page.until(`!!${link("tree")}`);
            await page.click(find("clear"));
            steps.push("tree");

            violations.push(...await page.check(axe, "full"));
            for (const dark of [false, true]) {
                for (const phone of [false, true]) {
                    await page.look({ dark, phone });
                    await page.shot(join(target,
                        `${phone ? "phone" : "desktop"}-${dark ? "dark" : "light"}.png`));
                    const isWide = await page.get(
                        "document.documentElement.scrollWidth > document.documentElement.clientWidth");
                    if (isWide) faults.push(`it is too wide: phone ${phone}`);
                }
            }
            violations.push(...await page.check(axe, "phone"));
            await page.look({});

            await page.click(`${link("file 3.txt")}.closest("tr").querySelector("button")`);
            await page.until(`!!document.querySelector("#entries td.name input")`);
            violations.push(...await page.check(axe, "rename"));
            await page.type("renamed");
            await page.key("Enter");
            await page.until(`!!${link("renamed.txt")}`);
            // The Enter key of an input method ends a word, not the renaming, and a click elsewhere
            // keeps the focus there.
            const isRenaming = `!!document.querySelector("#entries td.name input")`;
            await page.until(said("Renamed to"));
            await page.get(`${link("file 8.txt")}.closest("tr").querySelector("button").click()`);
            await page.until(isRenaming);
            await page.get(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {
                key: "Enter", isComposing: true, bubbles: true,
            }))`);
            if (!await page.get(isRenaming)) faults.push("an input method ends the renaming");
            await page.click(find("search"));
            await page.until(`!(${isRenaming}) && document.activeElement === ${find("search")}`);
            steps.push("rename");

            await page.click(box("file 4.txt"));
            await page.click(box("file 5.txt"));
            await page.until(`!${find("selection")}.hidden`);
            violations.push(...await page.check(axe, "selection"));
            await page.click(find("move"));
            await page.until(`${find("move-dialog")}.open`);
            violations.push(...await page.check(axe, "move"));
            await page.get(`${find("target")}.value = "/tree/"`);
            await page.click(`document.querySelector("#move-dialog button[value=yes]")`);
            await page.until(`!${link("file 4.txt")} && !${link("file 5.txt")}`);
            steps.push("move");

            await page.click(box("file 6.txt"));
            await page.click(box("tree"));
            await page.click(find("delete"));
            await page.until(`${find("delete-dialog")}.open`);
            violations.push(...await page.check(axe, "delete"));
            await page.click(`document.querySelector("#delete-dialog button[value='']")`);
            await page.until(`!${find("delete-dialog")}.open && !!${link("tree")}`);
            await page.click(find("delete"));
            await page.click(`document.querySelector("#delete-dialog button[value=yes]")`);
            await page.until(`!${link("tree")} && !${link("file 6.txt")} && !${find("undo")}.hidden`);
            violations.push(...await page.check(axe, "undo"));
            await page.shot(join(target, "undo.png"));
            await page.click(find("undo"));
            await page.until(`!!${link("tree")} && !!${link("file 6.txt")} && ${find("undo")}.hidden`);
            steps.push("undo");

            // A deletion that cannot be undone at first can be undone later.
            await change("create", { path: "/lost" });
            await change("create", { path: "/lost/one" });
            await page.until(`!!${link("lost")}`);
            await page.get(`${link("lost")}.click()`);
            await page.until(`!!${link("one")}`);
            await page.click(box("one"));
            await page.click(find("delete"));
            await page.click(`document.querySelector("#delete-dialog button[value=yes]")`);
            await page.until(`!${link("one")} && !${find("undo")}.hidden`);
            // The folder is deleted here and later; the browser logs each failed response.
            page.expected = /status of 40[49]/;
            await change("delete", { path: "/lost" });
            await page.click(find("undo"));
            await page.until(`${said("one: ")} && !${find("undo")}.disabled`);
            if (await page.get(`${find("undo")}.hidden`)) faults.push("it cannot be undone later");
            await change("create", { path: "/lost" });
            await page.click(find("undo"));
            await page.until(`!!${link("one")} && ${find("undo")}.hidden`);
            await change("delete", { path: "/lost" });
            await page.click(`document.querySelector("#crumbs a")`);
            await page.until(`!!${link("tree")} && !${link("lost")}`);
            steps.push("undo again");

            await page.click(link("tree"));
            await page.until(`!!${link("a.txt")} && !!${link("file 4.txt")}`);
            await download(page, () => page.click(find("folder")));
            await page.click(`document.querySelector("#crumbs a")`);
            await page.until(`!!${link("tree")}`);
            await page.click(box("tree"));
            await page.click(box("renamed.txt"));
            await download(page, () => page.click(find("download")));
            await page.key("Escape");
            steps.push("archive");

            await page.click(link("picture.png"));
            await page.until(`document.querySelector("#preview-content img")?.naturalWidth > 0`);
            violations.push(...await page.check(axe, "picture"));
            await page.shot(join(target, "preview.png"));
            await page.click(find("next"));
            await page.until(`document.querySelector("#preview-content pre")?.textContent === "content 3"`);
            violations.push(...await page.check(axe, "text"));
            await page.key("Escape");
            await page.until(`!${find("preview")}.open`);
            for (const [name, kind] of [["sound.wav", "audio"], ["paper.pdf", "iframe"]]) {
                await page.click(link(name));
                await page.until(`!!document.querySelector("#preview-content ${kind}")`);
                if (kind === "audio") {
                    await page.until(`document.querySelector("#preview-content audio").duration > 0`);
                    violations.push(...await page.check(axe, kind));
                } else {
                    // The drawing of the PDF is visible.
                    await until("paper", async () =>
                        dots(await page.shot(join(target, "pdf.png")), [255, 0, 0]) > 2000);
                }
                await page.click(`${find("preview")}.querySelector("button[value='']")`);
                await page.until(`!${find("preview")}.open`);
            }
            steps.push("preview");

            await page.click(box("file 0.txt"));
            await page.click(find("search"));
            await page.type("FILE 1");
            await page.until(`${names}.length === 11`);
            violations.push(...await page.check(axe, "search"));
            // A selected entry that is hidden does not count.
            if (!await page.get(`${find("selection")}.hidden`)) faults.push("a hidden entry counts");
            await page.click(find("all"));
            await page.until(
                `${find("all")}.checked && ${find("selected")}.textContent === "11 selected"`);
            await page.click(find("all"));
            await page.until(`!${find("all")}.checked && ${find("selection")}.hidden`);
            await page.click(find("search"));
            await page.get(`${find("search")}.select()`);
            await page.type("nothing has this name");
            await page.until(`!${find("empty")}.hidden`);
            violations.push(...await page.check(axe, "nothing found"));
            await page.get(`${find("search")}.select()`);
            await page.key("Delete");
            await page.until(`!!${link("tree")}`);
            steps.push("search");

            // A change by another client keeps the selection.
            await page.click(box("file 7.txt"));
            await change("create", { path: "/theirs" });
            await page.until(`!!${link("theirs")}`);
            if (!await page.get(`${box("file 7.txt")}.checked`)) faults.push("the selection is lost");
            steps.push("others");

            // A selection that is too long for an address is posted, and the page stays.
            await change("create", { path: "/many" });
            for (let number = 0; number < 20; number += 1) {
                await change("create", { path: `/many/${number}${"x".repeat(220)}` });
            }
            await page.until(`!!${link("many")}`);
            await page.get(`${link("many")}.click()`);
            await page.until(`${names}.length === 20`);
            await page.click(find("all"));
            await page.until(`!${find("selection")}.hidden`);
            await download(page, () => page.click(find("download")));
            await change("delete", { path: "/many" });
            await page.click(`document.querySelector("#crumbs a")`);
            await page.until(`!!${link("tree")} && !${link("many")}`);
            steps.push("long selection");

            if (await page.get(`!!document.querySelector("img, script:not([src])")`)) {
                faults.push("a name became markup");
            }
            faults.push(...page.faults);
        }

        // The same without a mouse.
        async function keyboard() {
            const page = await browser.open();
            await page.look({});
            await page.goto(address);
            await page.until(said("items"));
            const focus = (condition) => `((one) => ${condition})(document.activeElement)`;
            async function tabTo(condition) {
                for (let count = 0; count < 80; count += 1) {
                    if (await page.get(focus(condition))) return;
                    await page.key("Tab");
                }
                throw new Error(`no way by Tab to ${condition}`);
            }
            await tabTo(`one.id === "files-input"`);
            await tabTo(`one.name === "name" && one.form?.id === "create"`);
            await page.type("by keys");
            await page.key("Enter");
            await page.until(focus(`one.textContent === "by keys"`));
            steps.push("key create");
            await page.key("F2");
            await page.until(focus(`one.matches("td.name input")`));
            await page.key("Escape");
            await page.until(focus(`one.textContent === "by keys"`));
            await page.key("F2");
            await page.type("keyed");
            await page.key("Enter");
            await page.until(focus(`one.textContent === "keyed"`));
            steps.push("key rename");
            await page.key(" ");
            await page.until(`!${find("selection")}.hidden`);
            await page.key("Delete");
            await page.until(`${find("delete-dialog")}.open`);
            // The first button cancels.
            await page.key("Enter");
            await page.until(`!${find("delete-dialog")}.open && !!${link("keyed")}`);
            await page.until(focus(`one.textContent === "keyed"`));
            await page.key("Delete");
            await page.until(`${find("delete-dialog")}.open`);
            await tabTo(`one.value === "yes"`);
            await page.key("Enter");
            await page.until(`!${link("keyed")}`);
            await page.key("z", 2);
            await page.until(focus(`one.textContent === "keyed"`));
            steps.push("key undo");
            await page.key("Enter");
            await page.until(`location.search.endsWith("path=/keyed/")`);
            await tabTo(`one.matches("#crumbs a") && one.textContent !== "keyed"`);
            await page.key("Enter");
            await page.until(`!!${link("keyed")}`);
            await page.key("/");
            await page.until(focus(`one.id === "search"`));
            await page.type("file 1.txt");
            await page.until(`${names}.length === 1`);
            await tabTo(`one.textContent === "file 1.txt"`);
            await page.key("Enter");
            await page.until(`document.querySelector("#preview-content pre")?.textContent === "content 1"`);
            await tabTo(`one.matches("#preview pre")`);
            await page.key("Escape");
            await page.until(focus(`one.textContent === "file 1.txt"`));
            steps.push("key preview");
            faults.push(...page.faults);
        }

        // A browser without scripts.
        async function plain() {
            const page = await browser.open({ noScript: true });
            await page.look({});
            await page.goto(address);
            if (await page.get(`document.documentElement.classList.contains("js")`)) {
                faults.push("a script has run");
            }
            violations.push(...await page.check(axe, "without script"));
            const next = async (element) => {
                page.isLoaded = false;
                await page.click(element);
                await until("the next page", () => page.isLoaded);
            };
            await page.choose(find("files-input"), [join(source, "plain.txt")]);
            await next(`${find("upload")}.querySelector("button")`);
            await page.until(`!!${link("plain.txt")}`);
            await page.click(box("plain.txt"));
            await page.click(`${find("list")}.elements.newName`);
            await page.type("plain 2.txt");
            await next(`${find("list")}.querySelector(".plain button:not([formaction])")`);
            await page.until(`!!${link("plain 2.txt")}`);
            await page.click(box("plain 2.txt"));
            await next(`${find("list")}.querySelector("button[formaction=delete]")`);
            violations.push(...await page.check(axe, "question"));
            await next(`document.querySelector("button.danger")`);
            await page.until(`!${link("plain 2.txt")} && !!${link("file 1.txt")}`);
            await page.shot(join(target, "plain.png"));
            steps.push("plain");
            faults.push(...page.faults);
        }

        try {
            await person();
            await keyboard();
            await plain();
        } catch (error) {
            faults.push(`after ${steps.at(-1)}: ${error.stack}`);
        }
        await browser.end();
        console.log(JSON.stringify({ steps, faults, violations }));
        process.exit(0);
        """#
}
