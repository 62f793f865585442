import Crypto

/// A tag under which sources are asked for, and the name under which a shared place keeps what is known of it.
package struct SharedTag: Hashable, Sendable {
    /// The tag.
    package let text: String
    /// 43 letters and digits of a hash.
    let label: [UInt8]

    private static let longest = 64

    /// The tag of this text, whose grammar others judge; nil if it cannot be written.
    package init?(_ text: String) {
        guard 1...Self.longest ~= text.utf8.count, !text.utf8.contains(0) else { return nil }
        self.text = text
        let name = Array("tag ".utf8) + text.utf8
        label = Array(Base64URL.encode(unsafe SHA256.hash(name.span.bytes).bytes).utf8)
    }

    /// The key of the sources that were asked for under it.
    var name: [UInt8] { TierNames.tags + label }
}
