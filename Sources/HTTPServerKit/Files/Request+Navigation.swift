internal import HTTPCodecs
internal import HTTPParser
import HTTPServerCore

extension Request {
    /// Whether a browser loads the response as a page, not as a resource of a page.
    ///
    /// Browsers send Sec-Fetch-Mode (Fetch Metadata, section 2.2) to https origins and to
    /// localhost. Without that field, Accept decides: browsers name HTML in it only for pages.
    var isNavigation: Bool {
        if let mode = fields["Sec-Fetch-Mode"] { return mode.hasBytes(of: "navigate") }
        guard let accept = fields[.accept], let preference = MediaTypePreference(accept) else {
            return false
        }
        return preference.ranges.contains { $0.weight > 0 && $0.value.lowercased() == "text/html" }
    }
}
