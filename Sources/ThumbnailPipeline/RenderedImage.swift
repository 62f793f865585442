import Crypto
import Imaging
import Memory

/// A result as the cache keeps it: the file and its entity tag.
struct RenderedImage: Sendable {
    let image: EncodedImage
    /// Strong: made from the bytes alone, so that equal answers have equal tags in any process.
    let eTag: String
    /// Whether the source lacked pixels.
    let isIncomplete: Bool
    /// For what answers with it have in common.
    let place = AnswerPlace()

    /// Tags a finished picture; hashes all its bytes.
    init(_ image: EncodedImage, isIncomplete: Bool = false) {
        self.image = image
        self.isIncomplete = isIncomplete
        let digest = image.bytes.withBytes { SHA256.hash($0) }
        eTag = "\"" + Base64URL.encode(Array(digest.bytes.prefix(16))) + "\""
    }

    /// A picture that was tagged before, of a source that was whole: others are not written down.
    init(_ image: EncodedImage, eTag: String) {
        self.image = image
        self.eTag = eTag
        isIncomplete = false
    }

    /// Bytes of the file and, roughly, of its place in the cache and what is kept there.
    var cost: Int { image.bytes.count + 3_072 }
}
