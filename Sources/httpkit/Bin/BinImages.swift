import HTTPCodecs
import HTTPParser
import HTTPServerCore

/// A small picture in four formats: 64 pixels wide and high, a ring with a dot.
extension BinRouter {
    mutating func addImages() {
        group("Images")
        answer([.get], "/image", "The picture in the format that Accept requests.") { request in
            // If Accept allows several formats, the first of them in this order is sent.
            let accept = request.fields.list(.accept)?.lowercased() ?? "image/png"
            for format in BinImage.allCases where accept.contains(format.mediaType) {
                return format.response
            }
            let isAny = accept.contains("image/*") || accept.contains("*/*")
            return isAny ? BinImage.png.response : Self.response(status: .notAcceptable)
        }
        for format in BinImage.allCases {
            answer([.get], "/image/\(format.rawValue)", "The picture as \(format.mediaType).") {
                _ in
                format.response
            }
        }
    }
}

/// The formats of the picture.
enum BinImage: String, CaseIterable {
    case webp, svg, jpeg, png

    var mediaType: String { self == .svg ? "image/svg+xml" : "image/\(rawValue)" }

    var response: Response { Response(.ok, body: .bytes(bytes, mediaType: mediaType)) }

    var bytes: [UInt8] {
        switch self {
        case .svg: Array(Self.drawing.utf8)
        case .png: Self.decoded(Self.portableGraphics)
        case .jpeg: Self.decoded(Self.photograph)
        case .webp: Self.decoded(Self.lossless)
        }
    }

    private static func decoded(_ text: String) -> [UInt8] {
        Base64.decode(Array(text.utf8)) ?? []
    }

    static let drawing = """
        <svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64">\
        <title>A ring with a dot</title>\
        <rect width="64" height="64" rx="12" fill="#0f766e"/>\
        <circle cx="32" cy="32" r="20" fill="none" stroke="#fff" stroke-width="7"/>\
        <circle cx="32" cy="32" r="6" fill="#fff"/></svg>

        """

    /// A palette of two colours, one bit for each pixel.
    private static let portableGraphics = """
        iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQMAAACQp+OdAAAABlBMVEUPdm7////55LhXAAAAnUlEQVR42rWRsQ3DMA\
        wEJahwyRE0CkeTRvMoGUFlCiNvkrJfQFKkSQQYPggk//lK6Q+nPi8A5r8Ae4AAI0CBI6ABr6t2VmcMQY+mnqNts4L2\
        cLAWdRATqD5IxvxStevNZat1FAd1cA21YXlC2QNal5FdtbnVN9DjO3x03QMpsURvGzRGqzTPdbggV2YIjIVBregYJu\
        Nl4HyC9Sg/PSeAynUHdAr/ZgAAAABJRU5ErkJggg==
        """

    /// One component; only the mean brightness of each block is coded.
    private static let photograph = """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI\
        CAgICAgICAgICAgICAgICAgICAgICAj/wAALCABAAEABAREA/8QAHAAAAAAJAAAAAAAAAAAAAAAAAAECAwQFBgcI/8QA\
        FBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAAPwBhQAAAAAAAiWAACGkAESwENIESwENIESyGlEsBDSiWQ0gRLIaUSwEN\
        KJZDSBEsBDSBEsBDSACJYAAIaQAAAAAAA//Z
        """

    /// One colour, so that a pixel takes no bits.
    private static let lossless = "UklGRhgAAABXRUJQVlA4TAwAAAAvP8APAKhdH+rW/wA="
}
