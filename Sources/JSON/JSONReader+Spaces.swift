/// What stands between values: white space, and in JSON5 comments and more kinds of white space.
extension JSONReader {
    mutating func skipSpace() throws(Failure) {
        while let byte = peek {
            switch byte {
            case 0x20, 0x09, 0x0a, 0x0d: place += 1
            case _ where dialect == .strict: return
            case 0x0b, 0x0c: place += 1
            case UInt8(ascii: "/"): try skipComment()
            case 0x80...:
                guard let (scalar, length) = scalar(at: place), Self.isSpace(scalar) else { return }
                place += length
            default: return
            }
        }
    }

    private mutating func skipComment() throws(Failure) {
        let start = place
        if take(word: "//") {
            while let byte = peek, byte != 0x0a, byte != 0x0d { place += 1 }
        } else if take(word: "/*") {
            while !take(word: "*/") {
                guard peek != nil else { throw Failure(reason: "a comment has no end", offset: start) }
                place += 1
            }
        } else {
            throw failure("a value should begin here")
        }
    }

    /// The byte order mark and Unicode's spaces, the ends of lines and paragraphs included.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
        default: scalar == "\u{feff}"
        }
    }
}
