import Hummingbird

/// The content of the scenarios that post JSON.
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

struct Note: Decodable {
    var id: Int
    var text: String
}

/// The answer to both.
struct Receipt: ResponseEncodable {
    var id: Int
    var count: Int
}
