import Crypto

package struct SharedSource: Hashable, Sendable {
    static let labelLength = 43

    /// The hash of the source, in 43 letters and digits.
    let label: [UInt8]

    package init(of name: [UInt8]) { label = Array(Base64URL.encode(unsafe SHA256.hash(name.span.bytes).bytes).utf8) }

    init?(label: [UInt8]) {
        guard label.count == Self.labelLength else { return nil }
        self.label = label
    }
}
