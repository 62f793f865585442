import Crypto
import Memory

package struct SharedTag: Hashable, Sendable {
    package let text: String
    /// The hash of the tag, in 43 letters and digits.
    let label: [UInt8]

    private static let maximumLength = 64

    /// Returns nil if the tag cannot be written; does not check its grammar.
    package init?(_ text: String) {
        guard 1...Self.maximumLength ~= text.utf8.count, !text.utf8.contains(0) else { return nil }
        self.text = text
        let name = Array("tag ".utf8) + text.utf8
        label = Array(Base64URL.encode(unsafe SHA256.hash(name.span.bytes).bytes).utf8)
    }
}

/// The state of a tag before a source was requested under it; see ``SharedStore/checkpoint(of:for:)``.
package struct TagCheckpoint: Sendable {
    let generation: Task<SharedBytes?, any Error>
}
