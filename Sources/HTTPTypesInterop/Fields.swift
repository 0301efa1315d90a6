#if HTTPTypes
    public import HTTPParser
    public import HTTPTypes

    extension HTTPTypes.HTTPFields {
        /// Takes over fields, in their order.
        ///
        /// Texts are shared, not copied. `HTTPTypes` replaces bytes that RFC 9110 section 5.5 does not
        /// allow in values by spaces.
        /// - Parameter fields: the fields of a message of the toolkit, such as `Request.fields`.
        public init(_ fields: some Sequence<HTTPParser.HTTPField>) {
            self.init()
            reserveCapacity(fields.underestimatedCount)
            for field in fields { append(field) }
        }

        /// Takes over the fields of a head, which are read in place.
        public init(_ fields: borrowing FieldSection) {
            self.init()
            reserveCapacity(fields.count)
            fields.forEach { append($0) }
        }

        private mutating func append(_ field: HTTPParser.HTTPField) {
            // Both types take the same tokens.
            guard let name = HTTPTypes.HTTPField.Name(field.name.text) else { return }
            append(HTTPTypes.HTTPField(name: name, value: field.value))
        }
    }

    extension HTTPParser.HTTPFields {
        /// Takes over fields, in their order.
        ///
        /// Texts are shared, not copied. A value that is not UTF-8 is read as Latin-1, as the parser
        /// reads it.
        public init(_ fields: HTTPTypes.HTTPFields) {
            self.init()
            reserveCapacity(fields.count)
            for field in fields {
                guard let name = HTTPFieldName(field.name.rawName) else { continue }
                append(name, Self.text(of: field))
            }
        }

        private static func text(of field: HTTPTypes.HTTPField) -> String {
            let text = field.value
            // Only bytes that are no UTF-8 need another reading; most texts are ASCII.
            guard text.utf8.contains(0xEF), text.unicodeScalars.contains("\u{FFFD}") else {
                return text
            }
            return unsafe field.withUnsafeBytesOfValue { bytes in
                unsafe fieldText(UnsafeRawBufferPointer(bytes))
            }
        }
    }
#endif
