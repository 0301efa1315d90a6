import Foundation
import TestSupport
import Testing

@Suite(
    "The upload page in a browser", .serialized, .fewAtOnce,
    .enabled(if: FullSuite.isOn, "make test-all"))
struct UploaderBrowserTests {
    /// A page of the same server that takes the markup and the scripts of the upload page, and does
    /// what a person does. The browser sends cookie, Origin and Sec-Fetch-Site by itself.
    private static let driver = #"""
        <!doctype html><html><head><meta charset="utf-8"></head><body><script type="module">
        const steps = [];
        const faults = [];
        addEventListener("error", (event) => faults.push(`${event.message}`));
        addEventListener("unhandledrejection", (event) => faults.push(`${event.reason}`));
        // The time of the browser is virtual, and runs ahead of a server that is slow: a request
        // that blocks lets real time pass.
        function wait() {
            const request = new XMLHttpRequest();
            request.open("GET", "/up/token", false);
            request.send();
            return new Promise((resolve) => setTimeout(resolve, 20));
        }
        async function until(name, isMet) {
            for (let count = 0; count < 2000; count += 1) {
                if (isMet()) { steps.push(name); return; }
                await wait();
            }
            throw new Error(`no ${name}: ${document.getElementById("status").textContent}`);
        }
        const find = (name) => document.getElementById(name);
        const links = () => [...document.querySelectorAll("#entries td.name a")];
        const names = () => links().map((link) => link.textContent);
        const link = (name) => links().find((link) => link.textContent === name);
        const press = (key, target) => target.dispatchEvent(
            new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

        async function drive() {
            const text = await (await fetch("/up/")).text();
            const page = new DOMParser().parseFromString(text, "text/html");
            const base = document.createElement("base");
            base.href = "/up/";
            document.head.append(base);
            document.documentElement.lang = page.documentElement.lang;
            const script = page.querySelector("script[type=module]").getAttribute("src");
            document.body.replaceChildren(...page.body.children);
            await import(new URL(script, `${location.origin}/up/`));
            await until("list", () => names().includes("drive.html") && find("status").textContent);

            const many = new DataTransfer();
            for (let number = 0; number < 20; number += 1) {
                many.items.add(new File([`content ${number}`], `file ${number}.txt`));
            }
            many.items.add(new File(["odd"], "<img src=x onerror=alert(1)>.png"));
            find("files-input").files = many.files;
            find("files-input").dispatchEvent(new Event("change"));
            await until("uploads", () => links().length === 22);
            if (document.querySelector("img")) throw new Error("a name became markup");

            const files = ["tree/a.txt", "tree/inner/b.txt"].map((path) => {
                const file = new File([path], path.split("/").pop());
                Object.defineProperty(file, "webkitRelativePath", { value: path });
                return file;
            });
            Object.defineProperty(find("folder-input"), "files", { value: files });
            find("folder-input").dispatchEvent(new Event("change"));
            await until("folder", () => link("tree"));

            find("create").elements.namedItem("name").value = "made";
            find("create").requestSubmit();
            await until("create", () => link("made"));

            link("file 3.txt").focus();
            press("F2", link("file 3.txt"));
            document.querySelector("#entries input:not([type=checkbox])").value = "renamed.txt";
            press("Enter", document.querySelector("#entries input:not([type=checkbox])"));
            await until("rename", () => link("renamed.txt"));

            link("file 4.txt").focus();
            press(" ", link("file 4.txt"));
            press("ArrowDown", link("file 4.txt"));
            press(" ", document.activeElement);
            find("move").click();
            find("target").value = "/made";
            document.querySelector("#move-dialog button[value=yes]").click();
            await until("move", () => !link("file 4.txt") && !link("file 5.txt"));

            link("file 6.txt").focus();
            press("Delete", link("file 6.txt"));
            document.querySelector("#delete-dialog button[value='']").click();
            for (let count = 0; count < 10; count += 1) await wait();
            if (!link("file 6.txt")) throw new Error("deleted without a yes");
            press("Delete", link("file 6.txt"));
            document.querySelector("#delete-dialog button[value=yes]").click();
            await until("delete", () => !link("file 6.txt"));

            find("search").value = "FILE 1";
            find("search").dispatchEvent(new Event("input"));
            await until("search", () => links().length === 11);
            find("search").value = "";
            find("search").dispatchEvent(new Event("input"));

            link("made").click();
            await until("open", () => names().join() === "file 4.txt,file 5.txt");
            if (!location.search.endsWith("path=/made/")) throw new Error(location.search);
            document.querySelector("#crumbs a").click();
            await until("up", () => link("made"));
        }
        try { await drive(); } catch (error) { faults.push(`${error}`); }
        const result = document.createElement("pre");
        result.id = "result";
        result.textContent = JSON.stringify({ steps, faults });
        document.body.append(result);
        </script></body></html>
        """#

    private struct Result: Decodable {
        var steps: [String]
        var faults: [String]
    }

    @Test func aPersonUsesIt() async throws {
        let folder = try Folder()
        try folder.write(Self.driver, to: "drive.html")
        let server = try await ServeProcess(folder, ["--uploader", "/up"])
        let outcome = try await Browser().run(
            "--virtual-time-budget=200000", "--dump-dom", server.url("/drive.html"))
        let text = outcome.text.components(separatedBy: "<pre id=\"result\">").last?
            .components(separatedBy: "</pre>").first
        let json = try #require(text)
        let result = try JSONDecoder().decode(Result.self, from: Data(json.utf8))
        #expect(result.faults == [])
        #expect(
            result.steps == [
                "list", "uploads", "folder", "create", "rename", "move", "delete", "search", "open",
                "up",
            ])
        #expect(folder.text("file 0.txt") == "content 0")
        #expect(folder.text("renamed.txt") == "content 3")
        #expect(folder.text("made/file 5.txt") == "content 5")
        #expect(folder.text("tree/inner/b.txt") == "tree/inner/b.txt")
        #expect(folder.text("<img src=x onerror=alert(1)>.png") == "odd")
    }

    @Test func thePageRunsUnderItsPolicy() async throws {
        let folder = try Folder()
        try folder.write("x", to: "a.txt")
        try folder.write("x", to: "<img src=x onerror=alert(1)>.png")
        let server = try await ServeProcess(folder, ["--uploader", "/up"])
        let result = try await Browser().run("--dump-dom", server.url("/up/"))
        // Only the script makes these.
        #expect(result.text.contains("class=\"js\""))
        #expect(result.text.contains("aria-label=\"Rename: a.txt\""))
        #expect(!result.complaints.contains("Content Security Policy"))
        #expect(!result.complaints.contains("Uncaught"))
        #expect(!result.complaints.contains("CONSOLE"), "\(result.complaints)")
        let readOnly = try await ServeProcess(folder, ["--uploader", "/up", "--read-only"])
        let shown = try await Browser().run("--dump-dom", readOnly.url("/up/"))
        #expect(shown.text.contains("2 items</p>"))
        #expect(!shown.text.contains("type=\"checkbox\"") && !shown.text.contains("<dialog"))
        #expect(!shown.complaints.contains("CONSOLE"), "\(shown.complaints)")
        let target = try Folder()
        for size in ["390,844", "1200,800"] {
            _ = try await Browser().run(
                "--window-size=\(size)", "--screenshot=\(target.file("page.png").path)",
                server.url("/up/"))
            // An empty page of this size takes 3 KB.
            #expect(target.bytes("page.png").count > 10_000)
        }
    }
}
