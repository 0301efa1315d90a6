// A user's program that fetches a URL.

import URLClient

let request = ClientRequest(.get, CommandLine.arguments[1])
let (content, response) = try await ClientSession().data(for: request)
print(response.status.code, String(decoding: content, as: UTF8.self), terminator: "")
