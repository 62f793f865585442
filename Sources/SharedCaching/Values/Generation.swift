import Crypto

/// A random token for the period between two removals; a removal replaces it with a new one.
package struct Generation: Hashable, Sendable {
    /// 22 letters and digits.
    let bytes: [UInt8]

    static let length = 22

    /// The generation before the first removal; it is not stored.
    static let first = Generation(bytes: [UInt8](repeating: UInt8(ascii: "-"), count: length))

    private init(bytes: [UInt8]) { self.bytes = bytes }

    init() { bytes = Array(Base64URL.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) }).utf8) }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }
}

/// The generations of everything and of a source.
///
/// A value written under these generations is found until one of them is replaced.
package struct SharedGenerations: Hashable, Sendable {
    let everything: Generation
    let source: Generation

    package var encoded: [UInt8] { everything.bytes + source.bytes }
}

extension SharedGenerations {
    package init?(_ bytes: [UInt8]) {
        guard let everything = Generation(Array(bytes.prefix(Generation.length))),
            let source = Generation(Array(bytes.dropFirst(Generation.length)))
        else { return nil }
        self.init(everything: everything, source: source)
    }
}
