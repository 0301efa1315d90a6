package import WebSocketFrames

/// An entry of the queue to the reader: a message, or a piece if the connection delivers pieces.
package enum WebSocketInput: Sendable {
    case message(WebSocketMessage)
    case piece(WebSocketPiece)

    /// The input as a piece: a whole message is its only piece.
    package var piece: WebSocketPiece {
        switch self {
        case .message(let message): WebSocketPiece(message.kind, message.bytes, isLast: true)
        case .piece(let piece): piece
        }
    }
}

extension WebSocketPiece {
    /// A message whose only piece this is.
    var message: WebSocketMessage {
        switch kind {
        case .text: .text(String(decoding: bytes, as: UTF8.self))
        case .binary: .binary(bytes)
        }
    }
}
