import Crypto

/// A random text that stands for the time between two removals: it is replaced by a removal, and never comes again.
package struct Generation: Hashable, Sendable {
    /// 22 letters and digits.
    let text: [UInt8]

    static let length = 22

    /// The one before the first removal, where it is not kept.
    static let first = Generation(text: [UInt8](repeating: UInt8(ascii: "-"), count: length))

    private init(text: [UInt8]) { self.text = text }

    /// A generation of 128 random bits, so that none comes twice.
    init() {
        text = Array(Base64URL.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) }).utf8)
    }

    /// One from the server or a value; nil if it is none.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        text = bytes
    }
}

/// The generations under which something was begun: of everything, and of its source.
///
/// A value that was written under them is found until one of them is replaced.
package struct SharedGenerations: Hashable, Sendable {
    let everything: Generation
    let source: Generation

    /// Both as bytes.
    package var written: [UInt8] { everything.text + source.text }
}

extension SharedGenerations {
    /// Those that ``written`` gave; nil if the bytes are none.
    package init?(_ bytes: [UInt8]) {
        guard let everything = Generation(Array(bytes.prefix(Generation.length))),
            let source = Generation(Array(bytes.dropFirst(Generation.length)))
        else { return nil }
        self.init(everything: everything, source: source)
    }
}
