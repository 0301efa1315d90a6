extension FormURLEncoded {
    /// How much of a form is read, and how strictly.
    public struct Options: Hashable, Sendable {
        /// The most bytes of the encoded form; 2 MiB unless said otherwise.
        public var byteLimit = 2 << 20
        /// The most pairs; 10,000 unless said otherwise.
        public var pairLimit = 10_000
        /// Whether a `%` without two hexadecimal digits is an error. If not, it means itself.
        public var refusesInvalidEscapes = false
        /// Whether a name or value that is not UTF-8 is an error. If not, its bytes are kept, and
        /// its text has U+FFFD in their place.
        public var refusesInvalidText = false

        /// Creates the options of the URL standard, which takes everything, with the usual limits.
        public init() {}

        /// Everything is taken, as the URL standard says, up to the usual limits.
        public static var standard: Options { Options() }
        /// Only well-formed escapes and UTF-8 are taken, up to the usual limits.
        public static var strict: Options {
            var options = Options()
            options.refusesInvalidEscapes = true
            options.refusesInvalidText = true
            return options
        }
    }
}
