#if FoundationNetworking
    internal import URLClient

    extension ClientURLSession {
        /// The content of a response as it comes (`URLSession.AsyncBytes`). Read it once.
        ///
        /// The transfer waits while nothing is read, and ends when this is let go.
        public struct AsyncBytes: AsyncSequence, Sendable {
            /// A byte of content.
            public typealias Element = UInt8

            private let content: ClientContent
            // The session lives while its content is read.
            private let session: ClientURLSession

            init(_ content: ClientContent, _ session: ClientURLSession) {
                (self.content, self.session) = (content, session)
            }

            /// Reads on.
            public struct AsyncIterator: AsyncIteratorProtocol {
                private var pieces: ClientContent.AsyncIterator
                private var piece: [UInt8] = []
                private var position = 0
                private let session: ClientURLSession

                init(_ pieces: ClientContent.AsyncIterator, _ session: ClientURLSession) {
                    (self.pieces, self.session) = (pieces, session)
                }

                /// - Throws: a `URLError` when the transfer fails.
                public mutating func next() async throws -> UInt8? {
                    while position == piece.count {
                        do throws(ClientError) {
                            guard let next = try await pieces.next() else { return nil }
                            (piece, position) = (next, 0)
                        } catch {
                            throw error.sessionError
                        }
                    }
                    defer { position += 1 }
                    return piece[position]
                }
            }

            /// An iterator. Iterators divide the bytes among them: each takes whole pieces, and
            /// keeps the rest of its last piece to itself.
            public func makeAsyncIterator() -> AsyncIterator {
                AsyncIterator(content.makeAsyncIterator(), session)
            }

            /// The content by lines, as UTF-8.
            public var lines: AsyncLines { AsyncLines(bytes: self) }
        }

        /// Lines of text. CR, LF and CRLF end a line; empty lines are left out, as Foundation's
        /// `AsyncLineSequence` does.
        public struct AsyncLines: AsyncSequence, Sendable {
            /// A line without its end.
            public typealias Element = String

            /// The longest line, in bytes; a longer one ends the sequence with
            /// `URLError.dataLengthExceedsMaximum`.
            public static let byteLimit = 1 << 20

            let bytes: AsyncBytes

            /// Reads on.
            public struct AsyncIterator: AsyncIteratorProtocol {
                var bytes: AsyncBytes.AsyncIterator

                /// The next line that is not empty; nil at the end.
                public mutating func next() async throws -> String? {
                    var line: [UInt8] = []
                    while let byte = try await bytes.next() {
                        guard byte == 0x0A || byte == 0x0D else {
                            line.append(byte)
                            guard line.count <= AsyncLines.byteLimit else {
                                throw ClientError(.contentTooLong, "a line").sessionError
                            }
                            continue
                        }
                        if !line.isEmpty { break }
                    }
                    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
                }
            }

            /// An iterator. Iterators divide the bytes among them: each takes whole pieces, and
            /// keeps the rest of its last piece to itself.
            public func makeAsyncIterator() -> AsyncIterator {
                AsyncIterator(bytes: bytes.makeAsyncIterator())
            }
        }
    }
#endif
