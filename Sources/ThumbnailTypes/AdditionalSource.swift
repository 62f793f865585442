import Crypto
import HTTPTypes
import Recipes
package import Text

package struct AdditionalSource: Hashable, Sendable {
    package enum Role: String, Hashable, Sendable {
        case watermark
    }

    package var role: Role
    /// The name that the client sent, like ``Request/source``.
    package var source: ExactText

    /// The file, if the request contains it; then nothing is fetched.
    package var file: ExactText?

    package init(_ role: Role, source: ExactText) {
        self.role = role
        self.source = source
    }

    /// Creates a source from a file, which must depend on the request alone.
    package init(_ role: Role, file: ExactText) {
        self.init(role, source: "")
        self.file = file
    }

    package var fileName: String? { file.map { SHA256.hash($0.string).hexadecimal } }
}
