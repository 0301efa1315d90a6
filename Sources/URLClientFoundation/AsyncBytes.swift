#if FoundationNetworking
    internal import URLClient

    extension ClientURLSession {
        /// The content of a response as it arrives (`URLSession.AsyncBytes`). It can be read once.
        ///
        /// The transfer waits while nothing is read, and is cancelled when this value is released.
        public struct AsyncBytes: AsyncSequence, Sendable {
            /// A byte of content.
            public typealias Element = UInt8

            private let content: ClientContent
            // Retains the session while its content is read.
            private let session: ClientURLSession

            init(_ content: ClientContent, _ session: ClientURLSession) {
                (self.content, self.session) = (content, session)
            }

            /// Reads from the current position.
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

            /// Makes an iterator. Several iterators share the bytes: each takes whole pieces, and
            /// no other iterator gets the rest of its last piece.
            public func makeAsyncIterator() -> AsyncIterator {
                AsyncIterator(content.makeAsyncIterator(), session)
            }

            /// The lines of the content, as UTF-8.
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

            /// Reads from the current position.
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

            /// Makes an iterator. Several iterators share the bytes: each takes whole pieces, and
            /// no other iterator gets the rest of its last piece.
            public func makeAsyncIterator() -> AsyncIterator {
                AsyncIterator(bytes: bytes.makeAsyncIterator())
            }
        }
    }
#endif
