import Foundation
import HTTPParser
import TestSupport
import Testing

@Suite("RFC 9112: The transcripts")
struct TranscriptTests {
    /// All cases of the documents beside this file.
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

    @Test("There are documents")
    func documents() {
        #expect(Self.transcripts.count > 400)
    }

    @Test("The parser says what the transcript says", arguments: transcripts)
    func events(transcript: Transcript) {
        let events = transcript.setup.events(transcript.bytes)
        #expect(events.map(\.description).joined(separator: "\n") == transcript.expected)
    }

    @Test("It says so wherever the input is cut", arguments: transcripts)
    func splits(transcript: Transcript) {
        #expect(transcript.setup.disagreement(on: transcript.bytes)?.description == nil)
    }

    @Test("Every kind of error occurs", arguments: HTTPParseError.Kind.allCases)
    func kinds(kind: HTTPParseError.Kind) {
        let cases = Self.transcripts.filter { transcript in
            transcript.expected.contains("error \(kind) at ")
        }
        #expect(!cases.isEmpty)
    }
}
