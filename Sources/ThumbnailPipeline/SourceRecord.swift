import Downloading
import HTTPTypes
import Imaging
import Memory

/// What is known of a source after its bytes may be gone: enough to find what was made from it, and to ask whether it still holds.
final class SourceRecord: Sendable {
    let head: SourceHead
    let header: ImageHeader
    /// Until when, by the service's clock, a picture that lacks pixels is kept; nil for one that is whole as far as is known.
    let incompleteUntil: Duration?

    /// Joins what the origin said and what the picture's own header says.
    init(_ head: SourceHead, header: ImageHeader, incompleteUntil: Duration? = nil) {
        self.head = head
        self.header = header
        self.incompleteUntil = incompleteUntil
    }

    /// Reads the picture's header.
    convenience init(_ head: SourceHead, bytes: SharedBytes) throws(ImagingError) {
        self.init(head, header: try ImageHeader.inspect(bytes))
    }

    var identity: SourceIdentity { head.identity }
    var validator: SourceValidator { head.validator }
    var freshness: SourceFreshness { head.freshness }
}

/// The bytes of one version of a source.
struct SourceBody: Sendable {
    let validator: SourceValidator
    let bytes: SharedBytes
}
