import Foundation
import TestSupport
import Testing

@Suite(
    "The upload page in a browser", .serialized, .fewAtOnce, .overTLSToo,
    .enabled(if: FullSuite.isOn, "make test-all"))
struct UploaderBrowserTests {
    /// The files to upload: 20 texts, a file whose name contains markup, a tree, and a file of each
    /// kind that has a preview.
    private func source() throws -> Folder {
        let source = try Folder()
        for number in 0..<20 {
            try source.write("content \(number)", to: "flat/file \(number).txt")
        }
        try source.write("odd", to: "flat/<img src=x onerror=alert(1)>.png")
        try source.write(Self.picture, to: "flat/picture.png")
        try source.write(Self.sound, to: "flat/sound.wav")
        try source.write(Self.paper, to: "flat/paper.pdf")
        try source.write("tree/a.txt", to: "tree/a.txt")
        try source.write("tree/inner/b.txt", to: "tree/inner/b.txt")
        try source.write("plain", to: "plain.txt")
        return source
    }

    /// A second of silence.
    private static let sound: [UInt8] = {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let format = number(1, 2) + number(1, 2) + number(8_000, 4) + number(8_000, 4)
        let head = Array("RIFF".utf8) + number(8_036, 4) + Array("WAVEfmt ".utf8) + number(16, 4)
        return head + format + number(1, 2) + number(8, 2) + Array("data".utf8) + number(8_000, 4)
            + [UInt8](repeating: 128, count: 8_000)
    }()

    /// One blue pixel.
    private static let picture =
        Array(
            Data(
                base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ"
                    + "9bsBAAHPAURf8l/aAAAAAElFTkSuQmCC") ?? Data())

    /// A page with a red rectangle and a blue word.
    private static let paper = """
        %PDF-1.1
        1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
        2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
        3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources
        <</Font<</F 5 0 R>>>>>> endobj
        4 0 obj <</Length 96>> stream
        1 0 0 rg 50 100 200 60 re f
        0 0 1 rg BT /F 32 Tf 60 40 Td (paper) Tj ET
        endstream endobj
        5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
        trailer <</Root 1 0 R>>
        """

    @Test("The page works by mouse, by keys and without scripts, without errors or violations")
    func aPersonUsesIt() async throws {
        let (folder, source, target) = (try Folder(), try source(), try Folder())
        let server = try await ServeProcess(folder, ["--uploader", "/up"])
        try target.write(ChromeDriver.module, to: "chrome.mjs")
        try target.write(UploaderPerson.program, to: "person.mjs")
        let axe = try await AxeCore.script(in: target)
        let result = try await BrowserOutcome.of(
            target.file("person.mjs").path, server.url("/up/"),
            [source.path, target.path] + (axe.map { [$0] } ?? []))
        #expect(result.faults == [])
        #expect(result.violations == [])
        #expect(axe != nil, "axe-core could not be downloaded, so its checks did not run")
        #expect(
            result.steps == [
                "list", "files", "tree", "rename", "move", "undo", "undo again", "archive",
                "preview", "search", "others", "long selection", "key create", "key rename",
                "key undo", "key preview", "plain",
            ])
        #expect(folder.text("file 0.txt") == "content 0")
        #expect(folder.text("renamed.txt") == "content 3")
        #expect(folder.text("tree/file 5.txt") == "content 5")
        #expect(folder.text("tree/inner/b.txt") == "tree/inner/b.txt")
        #expect(folder.text("<img src=x onerror=alert(1)>.png") == "odd")
        for (name, members) in [
            ("tree.zip", ["tree/", "tree/a.txt", "tree/file 4.txt", "tree/inner/b.txt"]),
            ("Files.zip", ["renamed.txt", "tree/", "tree/inner/"]),
            ("many.zip", ["19" + String(repeating: "x", count: 220) + "/"]),
        ] {
            let archive = target.file(name).path
            #expect(try await Program.run("unzip", ["-tq", archive]).status == 0, "\(name)")
            let listed = try await Program.run("unzip", ["-Z1", archive]).text
            for member in members { #expect(listed.contains(member + "\n"), "\(member)") }
        }
        for picture in ["desktop-light", "desktop-dark", "phone-light", "phone-dark"] {
            // An empty page of this size takes 3 KB.
            #expect(target.bytes(picture + ".png").count > 10_000)
        }
    }
}
