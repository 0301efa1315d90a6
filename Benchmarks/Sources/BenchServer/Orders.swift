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

/// The same, which reads itself.
struct ReadOrder: JSONReadable {
    struct Item: JSONReadable {
        var name = ""
        var count = 0
        var price = 0.0

        init(reading json: inout JSONReader) throws {
            try json.beginObject()
            while let name = try json.nextName() {
                switch name {
                case "name": self.name = try json.next()
                case "count": count = try json.next()
                case "price": price = try json.next()
                default: break
                }
            }
        }
    }

    var id = 0
    var customer = ""
    var mail = ""
    var isPaid = false
    var items: [Item] = []
    var note = ""

    init(reading json: inout JSONReader) throws {
        try json.beginObject()
        while let name = try json.nextName() {
            switch name {
            case "id": id = try json.next()
            case "customer": customer = try json.next()
            case "mail": mail = try json.next()
            case "isPaid": isPaid = try json.next()
            case "items": items = try json.next()
            case "note": note = try json.next()
            default: break
            }
        }
    }
}

/// One text, which is nearly all of the content.
struct Note: Decodable {
    var id: Int
    var text: String
}

/// The answer to them.
struct Receipt: Encodable {
    var id: Int
    var count: Int
}

/// The same, which writes itself.
struct WrittenReceipt: JSONWritable {
    var id: Int
    var count: Int

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.write("id", id)
        json.write("count", count)
        json.endObject()
    }
}

extension Router {
    /// The routes for JSON that is posted.
    mutating func addOrders() {
        post("/order", json: Order.self) { _, order in
            try .json(Receipt(id: order.id, count: order.items.count))
        }
        post("/order-read", json: ReadOrder.self) { _, order in
            try .json(WrittenReceipt(id: order.id, count: order.items.count))
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
