import Crypto
package import Text

/// A source that a request names besides its image, for a step that uses its pixels.
package struct AdditionalSource: Hashable, Sendable {
    /// The use of the source.
    package enum Role: String, Hashable, Sendable {
        /// An image that is laid on the result.
        case watermark
    }

    /// The use of the source.
    package var role: Role
    /// The source as the client named it, like ``ThumbnailRequest/source``.
    package var source: ExactText

    /// The file itself, if the request brings it; nothing is fetched then.
    package var file: ExactText?

    /// A source for `role`.
    package init(_ role: Role, source: ExactText) {
        self.role = role
        self.source = source
    }

    /// A source whose file is this text; it must depend on the request alone.
    package init(_ role: Role, file: ExactText) {
        self.init(role, source: "")
        self.file = file
    }

    /// The name of the file that the request brings; nil if there is none.
    package var fileName: String? {
        file.map { text in
            let bytes = Array(text.utf8)
            return unsafe SHA256.hash(bytes.span.bytes).hexadecimal
        }
    }
}
