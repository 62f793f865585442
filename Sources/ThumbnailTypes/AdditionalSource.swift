import Crypto
package import Text

/// A source that a request names besides its image, such as a watermark.
package struct AdditionalSource: Hashable, Sendable {
    package enum Role: String, Hashable, Sendable {
        case watermark
    }

    package var role: Role
    /// The source as named by the client, like ``Request/source``.
    package var source: ExactText

    /// The file itself, if the request contains it; nothing is fetched then.
    package var file: ExactText?

    package init(_ role: Role, source: ExactText) {
        self.role = role
        self.source = source
    }

    /// Creates a source whose file is this text, which must depend on the request alone.
    package init(_ role: Role, file: ExactText) {
        self.init(role, source: "")
        self.file = file
    }

    /// The name of the file that the request contains; nil if there is none.
    package var fileName: String? {
        file.map { text in
            let bytes = Array(text.utf8)
            return unsafe SHA256.hash(bytes.span.bytes).hexadecimal
        }
    }
}
