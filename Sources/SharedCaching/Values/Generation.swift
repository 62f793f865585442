import Crypto

/// A random text that identifies the period between two removals: a removal replaces it, and it never recurs.
package struct Generation: Hashable, Sendable {
    /// 22 letters and digits.
    let text: [UInt8]

    static let length = 22

    /// The generation before the first removal, where it is not stored.
    static let first = Generation(text: [UInt8](repeating: UInt8(ascii: "-"), count: length))

    private init(text: [UInt8]) { self.text = text }

    /// Creates a generation of 128 random bits, so that none recurs.
    init() {
        text = Array(Base64URL.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) }).utf8)
    }

    /// Parses a generation from the server or a value; nil if it is invalid.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        text = bytes
    }
}

/// The generations under which something was begun: of everything, and of its source.
///
/// A value written under them is found until one of them is replaced.
package struct SharedGenerations: Hashable, Sendable {
    let everything: Generation
    let source: Generation

    /// Both as bytes.
    package var encoded: [UInt8] { everything.text + source.text }
}

extension SharedGenerations {
    /// Decodes ``encoded``; nil if the bytes are invalid.
    package init?(_ bytes: [UInt8]) {
        guard let everything = Generation(Array(bytes.prefix(Generation.length))),
            let source = Generation(Array(bytes.dropFirst(Generation.length)))
        else { return nil }
        self.init(everything: everything, source: source)
    }
}
