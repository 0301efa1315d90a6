internal import HTTPCodecs
internal import HTTPParser
import HTTPServerCore

extension Request {
    /// Whether a browser is about to show the answer as a page, and does not load it for one.
    ///
    /// Browsers say so by Sec-Fetch-Mode (Fetch Metadata, section 2.2), to https and to this machine.
    /// Otherwise Accept tells: only for pages does it name HTML.
    var isNavigation: Bool {
        if let mode = fields["Sec-Fetch-Mode"] { return mode.hasBytes(of: "navigate") }
        guard let accept = fields[.accept], let preference = MediaTypePreference(accept) else {
            return false
        }
        return preference.ranges.contains { $0.weight > 0 && $0.value.lowercased() == "text/html" }
    }
}
