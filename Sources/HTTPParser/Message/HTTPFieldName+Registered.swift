extension HTTPFieldName {
    /// `Accept`.
    public static var accept: Self { Self(unchecked: "Accept") }
    /// `Accept-Charset`.
    public static var acceptCharset: Self { Self(unchecked: "Accept-Charset") }
    /// `Accept-Encoding`.
    public static var acceptEncoding: Self { Self(unchecked: "Accept-Encoding") }
    /// `Accept-Language`.
    public static var acceptLanguage: Self { Self(unchecked: "Accept-Language") }
    /// `Accept-Ranges`.
    public static var acceptRanges: Self { Self(unchecked: "Accept-Ranges") }
    /// `Age`.
    public static var age: Self { Self(unchecked: "Age") }
    /// `Allow`.
    public static var allow: Self { Self(unchecked: "Allow") }
    /// `Authorization`.
    public static var authorization: Self { Self(unchecked: "Authorization") }
    /// `Cache-Control`.
    public static var cacheControl: Self { Self(unchecked: "Cache-Control") }
    /// `Connection`.
    public static var connection: Self { Self(unchecked: "Connection") }
    /// `Content-Disposition`.
    public static var contentDisposition: Self { Self(unchecked: "Content-Disposition") }
    /// `Content-Encoding`.
    public static var contentEncoding: Self { Self(unchecked: "Content-Encoding") }
    /// `Content-Language`.
    public static var contentLanguage: Self { Self(unchecked: "Content-Language") }
    /// `Content-Length`.
    public static var contentLength: Self { Self(unchecked: "Content-Length") }
    /// `Content-Location`.
    public static var contentLocation: Self { Self(unchecked: "Content-Location") }
    /// `Content-Range`.
    public static var contentRange: Self { Self(unchecked: "Content-Range") }
    /// `Content-Security-Policy`.
    public static var contentSecurityPolicy: Self { Self(unchecked: "Content-Security-Policy") }
    /// `Content-Type`.
    public static var contentType: Self { Self(unchecked: "Content-Type") }
    /// `Cookie`.
    public static var cookie: Self { Self(unchecked: "Cookie") }
    /// `Date`.
    public static var date: Self { Self(unchecked: "Date") }
    /// `ETag`.
    public static var eTag: Self { Self(unchecked: "ETag") }
    /// `Expect`.
    public static var expect: Self { Self(unchecked: "Expect") }
    /// `Expires`.
    public static var expires: Self { Self(unchecked: "Expires") }
    /// `Forwarded`.
    public static var forwarded: Self { Self(unchecked: "Forwarded") }
    /// `From`.
    public static var from: Self { Self(unchecked: "From") }
    /// `Host`.
    public static var host: Self { Self(unchecked: "Host") }
    /// `If-Match`.
    public static var ifMatch: Self { Self(unchecked: "If-Match") }
    /// `If-Modified-Since`.
    public static var ifModifiedSince: Self { Self(unchecked: "If-Modified-Since") }
    /// `If-None-Match`.
    public static var ifNoneMatch: Self { Self(unchecked: "If-None-Match") }
    /// `If-Range`.
    public static var ifRange: Self { Self(unchecked: "If-Range") }
    /// `If-Unmodified-Since`.
    public static var ifUnmodifiedSince: Self { Self(unchecked: "If-Unmodified-Since") }
    /// `Keep-Alive`.
    public static var keepAlive: Self { Self(unchecked: "Keep-Alive") }
    /// `Last-Modified`.
    public static var lastModified: Self { Self(unchecked: "Last-Modified") }
    /// `Link`.
    public static var link: Self { Self(unchecked: "Link") }
    /// `Location`.
    public static var location: Self { Self(unchecked: "Location") }
    /// `Max-Forwards`.
    public static var maxForwards: Self { Self(unchecked: "Max-Forwards") }
    /// `Origin`.
    public static var origin: Self { Self(unchecked: "Origin") }
    /// `Pragma`.
    public static var pragma: Self { Self(unchecked: "Pragma") }
    /// `Proxy-Authenticate`.
    public static var proxyAuthenticate: Self { Self(unchecked: "Proxy-Authenticate") }
    /// `Proxy-Authorization`.
    public static var proxyAuthorization: Self { Self(unchecked: "Proxy-Authorization") }
    /// `Range`.
    public static var range: Self { Self(unchecked: "Range") }
    /// `Referer`.
    public static var referer: Self { Self(unchecked: "Referer") }
    /// `Retry-After`.
    public static var retryAfter: Self { Self(unchecked: "Retry-After") }
    /// `Server`.
    public static var server: Self { Self(unchecked: "Server") }
    /// `Set-Cookie`.
    public static var setCookie: Self { Self(unchecked: "Set-Cookie") }
    /// `Strict-Transport-Security`.
    public static var strictTransportSecurity: Self { Self(unchecked: "Strict-Transport-Security") }
    /// `TE`.
    public static var te: Self { Self(unchecked: "TE") }
    /// `Trailer`.
    public static var trailer: Self { Self(unchecked: "Trailer") }
    /// `Transfer-Encoding`.
    public static var transferEncoding: Self { Self(unchecked: "Transfer-Encoding") }
    /// `Upgrade`.
    public static var upgrade: Self { Self(unchecked: "Upgrade") }
    /// `User-Agent`.
    public static var userAgent: Self { Self(unchecked: "User-Agent") }
    /// `Vary`.
    public static var vary: Self { Self(unchecked: "Vary") }
    /// `Via`.
    public static var via: Self { Self(unchecked: "Via") }
    /// `WWW-Authenticate`.
    public static var wwwAuthenticate: Self { Self(unchecked: "WWW-Authenticate") }
    /// `X-Content-Type-Options`.
    public static var xContentTypeOptions: Self { Self(unchecked: "X-Content-Type-Options") }
    /// `X-Forwarded-For`.
    public static var xForwardedFor: Self { Self(unchecked: "X-Forwarded-For") }
    /// `X-Forwarded-Host`.
    public static var xForwardedHost: Self { Self(unchecked: "X-Forwarded-Host") }
    /// `X-Forwarded-Proto`.
    public static var xForwardedProto: Self { Self(unchecked: "X-Forwarded-Proto") }
}
