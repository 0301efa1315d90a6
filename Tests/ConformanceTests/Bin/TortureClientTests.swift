import HTTPParser
import TestSupport
import Testing
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("httpkit bin --torture-port, used by URLClient", .fewAtOnce)
struct TortureClientTests {
    private static func request(_ server: BinProcess, _ name: String) throws -> ClientRequest {
        ClientRequest(.get, try #require(URL(string: "\(server.torture)/\(name)")))
    }

    private static func failure(
        _ server: BinProcess, _ name: String, _ timeouts: ClientTimeouts = ClientTimeouts()
    ) async throws -> ClientError? {
        var configuration = ClientConfiguration.ephemeral
        configuration.timeouts = timeouts
        do {
            _ = try await ClientSession(configuration).data(for: request(server, name))
            return nil
        } catch let error as ClientError {
            return error
        }
    }

    @Test(
        "Unusual, valid responses are received completely",
        arguments: [
            "no-reason", "no-reason-no-space", "odd-status", "bare-lf", "latin-1", "obs-fold",
            "no-space", "empty-values", "same-length-twice", "interim", "interim-flood",
            "trailers", "chunk-extensions", "tiny-chunks", "until-close", "http-1.0",
            "byte-by-byte", "many-cookies", "raw-deflate", "two-members", "stale", "stale-reset",
            "closes-soon",
        ])
    func legal(name: String) async throws {
        let server = try await BinProcess()
        let session = ClientSession(.ephemeral)
        for _ in 0..<2 {
            let (content, _) = try await session.data(for: Self.request(server, name))
            #expect(String(decoding: content, as: UTF8.self) == "whole\n")
        }
    }

    @Test(
        "Broken responses throw an error that is not a timeout",
        arguments: [
            "http-0.9", "garbage", "wrong-version", "wrong-protocol", "bad-status", "nul",
            "huge-field", "endless-head", "close", "reset", "reset-in-head", "continue-close",
            "short", "short-reset", "bad-length", "bad-chunk", "huge-chunk", "truncated-chunk",
            "no-last-chunk", "gzip-garbage", "gzip-bad-check", "gzip-bomb", "redirect-self",
            "redirect-ping",
        ])
    func broken(name: String) async throws {
        let server = try await BinProcess()
        let error = try #require(try await Self.failure(server, name))
        #expect(error.urlErrorCode != -1001, "\(error)")
    }

    @Test(
        "Responses without an end run into the timeout of the client",
        arguments: [
            "silence", "stall", "stall-before-content", "slow", "slow-head", "continue-only",
        ])
    func endless(name: String) async throws {
        let server = try await BinProcess()
        let error = try await Self.failure(server, name, ClientTimeouts(total: .seconds(1)))
        #expect(error?.urlErrorCode == -1001, "\(error?.description ?? "-")")
    }
}
