import HTTPCrypto
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Answers for caches (RFC 9111) and conditional requests (RFC 9110 section 13).
extension BinRouter {
    mutating func addCaching() {
        group("Caching")
        answer(
            [.get], "/cache", "304 for any If-None-Match or If-Modified-Since, else /get."
        ) { request in
            let fields = request.fields
            if fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince) {
                return Response(.notModified)
            }
            var response = JSONValue.object(Self.head(of: request)).response()
            response.entityTag = EntityTag(of: Crypto.random(16))
            response.lastModified = HTTPDate(
                secondsSinceEpoch: Syscalls.realtime().seconds)
            return response
        }
        answer(
            [.get], "/cache/:n", "An answer to cache for n seconds.", example: "/cache/60"
        ) { request in
            let age = try request.number("n")
            return JSONValue.object(Self.head(of: request))
                .response(fields: [.cacheControl: "public, max-age=\(age)"])
        }
        answer(
            [.get], "/etag/:tag", "An answer with this ETag, under the conditions of the request.",
            example: "/etag/abc"
        ) { request in
            guard let tag = EntityTag(opaque: request.parameter("tag")) else {
                throw HTTPError(.badRequest, "the tag is not a valid entity tag")
            }
            var response = JSONValue.object(Self.head(of: request)).response()
            response.entityTag = tag
            return try response.conditional(for: request)
        }
    }
}
