extension FormURLEncoded {
    /// The limits and the strictness of reading a form.
    public struct Options: Hashable, Sendable {
        /// The most bytes of the encoded form; 2 MiB by default.
        public var byteLimit = 2 << 20
        /// The most pairs; 10,000 by default.
        public var pairLimit = 10_000
        /// Whether a `%` without two hexadecimal digits is an error. If not, it stands for itself.
        public var refusesInvalidEscapes = false
        /// Whether a name or value that is not UTF-8 is an error. If not, its bytes are kept, and
        /// its text has U+FFFD in place of the invalid bytes.
        public var refusesInvalidText = false

        /// Creates the options of the URL standard, which accepts any input, with the usual limits.
        public init() {}

        /// Any input is accepted, as by the URL standard, up to the usual limits.
        public static var standard: Options { Options() }
        /// Only well-formed escapes and UTF-8 are accepted, up to the usual limits.
        public static var strict: Options {
            var options = Options()
            options.refusesInvalidEscapes = true
            options.refusesInvalidText = true
            return options
        }
    }
}
