import Downloading
import HTTPTypes
import Imaging

/// What is known of a source after its bytes may be gone: enough to find what was made from it.
final class SourceRecord: Sendable {
    let identity: SourceIdentity
    let validator: SourceValidator
    let header: ImageHeader
    let lastModified: HTTPDate?
    let freshness: SourceFreshness

    /// Reads the picture's header.
    init(of source: Source) throws(ImagingError) {
        identity = source.identity
        validator = source.validator
        header = try ImageHeader.inspect(source.bytes)
        lastModified = source.lastModified
        freshness = SourceFreshness(headerFields: source.headerFields, receivedAt: source.receivedAt)
    }
}
