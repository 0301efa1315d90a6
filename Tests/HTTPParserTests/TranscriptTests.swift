import Foundation
import HTTPParser
import TestSupport
import Testing

@Suite("RFC 9112: Transcripts")
struct TranscriptTests {
    /// All cases of the documents in the folder Transcripts.
    static let transcripts: [Transcript] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Transcripts", directoryHint: .isDirectory)
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix(".md") }
                .sorted()
                .flatMap { name in
                    let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                    return try Transcript.cases(of: text, named: String(name.dropLast(3)))
                }
        } catch {
            Issue.record(error)
            return []
        }
    }()

    @Test("There are more than 400 transcripts")
    func documents() {
        #expect(Self.transcripts.count > 400)
    }

    @Test("The events of the parser are those of the transcript", arguments: transcripts)
    func events(transcript: Transcript) {
        let events = transcript.setup.events(transcript.bytes)
        #expect(events.map(\.description).joined(separator: "\n") == transcript.expected)
    }

    @Test("The events are the same at every split of the input", arguments: transcripts)
    func splits(transcript: Transcript) {
        #expect(transcript.setup.disagreement(on: transcript.bytes)?.description == nil)
    }

    @Test("Every kind of error occurs in a transcript", arguments: HTTPParseError.Kind.allCases)
    func kinds(kind: HTTPParseError.Kind) {
        let cases = Self.transcripts.filter { transcript in
            transcript.expected.contains("error \(kind) at ")
        }
        #expect(!cases.isEmpty)
    }
}
