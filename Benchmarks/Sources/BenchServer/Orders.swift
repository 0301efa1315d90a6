import HTTPServerToolkit

/// The content of the scenarios that post JSON; `server.py` makes it.
struct Order: Decodable {
    struct Item: Decodable {
        var name: String
        var count: Int
        var price: Double
    }

    var id: Int
    var customer: String
    var mail: String
    var isPaid: Bool
    var items: [Item]
    var note: String
}

/// One text, which is nearly all of the content.
struct Note: Decodable {
    var id: Int
    var text: String
}

/// The answer to both.
struct Receipt: Encodable {
    var id: Int
    var count: Int
}

extension Router {
    /// The routes for JSON that is posted.
    mutating func addOrders() {
        post("/order", json: Order.self) { _, order in
            try .json(Receipt(id: order.id, count: order.items.count))
        }
        post("/note", json: Note.self) { _, note in
            try .json(Receipt(id: note.id, count: note.text.utf8.count))
        }
        // The same by a task.
        post("/order-async") { request in
            let order: Order = try await request.json()
            return try .json(Receipt(id: order.id, count: order.items.count))
        }
        post("/note-async") { request in
            let note: Note = try await request.json()
            return try .json(Receipt(id: note.id, count: note.text.utf8.count))
        }
    }
}
