import Coordination
import Crypto
import Imaging
import Memory

/// A result as the cache keeps it: the file and its entity tag.
struct RenderedImage: Sendable {
    let image: EncodedImage
    /// Strong: made from the bytes alone, so that equal answers have equal tags in any process.
    let eTag: String
    /// Whether a source lacked pixels.
    let isIncomplete: Bool
    /// The place for data that answers with it share.
    let place = AnswerPlace()

    /// Tags a finished image; hashes all its bytes.
    init(_ image: EncodedImage, isIncomplete: Bool = false) {
        self.image = image
        self.isIncomplete = isIncomplete
        let digest = image.bytes.withBytes { SHA256.hash($0) }
        eTag = "\"" + Base64URL.encode(Array(digest.bytes.prefix(16))) + "\""
    }

    /// An image that was tagged before, of a source that was whole: others are not written down.
    init(_ image: EncodedImage, eTag: String) {
        self.image = image
        self.eTag = eTag
        isIncomplete = false
    }

    /// Bytes of the file and, roughly, of its place in the cache and what is kept there.
    var cost: Int { image.bytes.footprint + 1_536 }
}

/// A place beside a cached result for data that its answers share; it is removed with the result.
package final class AnswerPlace: Sendable {
    /// An object that the place can keep.
    package typealias Content = AnyObject & Sendable

    private let content = Locked<(any Content)?>(nil)

    package init() {}

    /// The object that was kept last.
    package var kept: (any Content)? { content.withLock { $0 } }

    /// Keeps `new` in place of the last object.
    package func keep(_ new: any Content) {
        let replaced = content.withLock { content in
            defer { content = new }
            return content
        }
        // Released here, outside the lock.
        _ = replaced
    }
}
