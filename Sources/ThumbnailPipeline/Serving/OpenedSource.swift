import Coordination
import Crypto
import Downloading
import HTTPTypes
import Imaging
import Memory
package import Recipes
import Synchronization
import Text
import ThumbnailTypes

/// An image opened for several results: uploaded by a client, or fetched once.
package final class OpenedSource: Sendable {
    let record: SourceRecord
    /// The file, or only the preview of a RAW photograph.
    let bytes: SharedBytes
    let preview: RAWPreview?
    /// Whether everything derived from it is dropped when it is closed.
    let isUncacheable: Bool
    let imagesInUse = ImagesInUse()
    private let isAdmitted: Atomic<Bool>
    /// The freshness that the origin states; nil for an upload.
    private let fetched: SourceFreshness?

    package var header: ImageHeader { record.header }

    package var byteCount: Int { bytes.count }

    /// The bytes to decode, and their header.
    var file: SourceFile { preview?.file ?? SourceFile(bytes: bytes, header: header) }

    func decodeKey(_ plan: DecodePlan) -> DecodeKey {
        DecodeKey(source: record.identity, validator: record.validator, plan: plan)
    }

    /// - Parameter isAdmitted: Whether its work was already admitted; if not, the first admission covers all its work.
    init(
        _ record: SourceRecord, bytes: SharedBytes, preview: RAWPreview? = nil, isUncacheable: Bool = false,
        isAdmitted: Bool = true, fetched: SourceFreshness? = nil
    ) {
        self.fetched = fetched
        self.preview = preview
        self.record = record
        self.bytes = bytes
        self.isUncacheable = isUncacheable
        self.isAdmitted = Atomic(isAdmitted)
    }

    /// The freshness of a result of this source; nil without an origin.
    func freshness(of thumbnail: Thumbnail) -> Freshness? {
        guard record.identity.isUpload else { return thumbnail.freshness }
        return fetched.map { thumbnail.freshness.restricted(by: $0, at: record.head.receivedAt.secondsSince1970) }
    }

    /// Checks once per call: otherwise its later renditions would be rejected because of its earlier ones.
    func admit<Rejection: Error>(_ judge: () throws(Rejection) -> Void) throws(Rejection) {
        if isAdmitted.load(ordering: .relaxed) { return }
        try judge()
        isAdmitted.store(true, ordering: .relaxed)
    }

    /// Uploads of equal files are the same source; throws ``ImagingError`` if the header is unreadable.
    ///
    /// - Parameter tenant: The tenant that shares the source with no other; nil shares it.
    convenience init(upload bytes: SharedBytes, of tenant: ExactText? = nil, at now: Int) throws(ImagingError) {
        let digest = bytes.withBytes { SHA256.hash($0) }.hexadecimal
        self.init(try SourceRecord(Self.head(named: digest, of: tenant, at: now), bytes: bytes), bytes: bytes)
    }

    /// Creates a source that may not be stored, under a name for one use.
    convenience init(
        uncacheable bytes: SharedBytes, preview: RAWPreview? = nil, name: String, at now: Int,
        fetched: SourceFreshness? = nil
    ) throws(ImagingError) {
        let head = Self.head(named: name, at: now)
        let record: SourceRecord
        if let whole = preview?.record {
            record = SourceRecord(head, header: whole.header, byteCount: whole.byteCount)
        } else {
            record = try SourceRecord(head, bytes: bytes)
        }
        self.init(record, bytes: bytes, preview: preview, isUncacheable: true, fetched: fetched)
    }

    private static func head(named name: String, of tenant: ExactText? = nil, at now: Int) -> SourceHead {
        let date = HTTPDate(secondsSince1970: now)
        // Never stale: there is no origin to validate it with.
        return SourceHead(
            identity: SourceIdentity(uploaded: name).owned(by: tenant), validator: .digest(name),
            headerFields: [.cacheControl: "max-age=2147483648"], requestedAt: date, receivedAt: date)
    }
}

/// Decoded images held while several results of one source are rendered.
///
/// Each is decoded once, even if it does not fit in the decoded cache. Bounded to 1.5 times the largest image: all
/// levels of a page together take at most 4/3 of the full page.
final class ImagesInUse: Sendable {
    private let images = Locked(BoundedMap<DecodeKey, DecodedImage>())

    func contains(_ key: DecodeKey) -> Bool { images.withLock { $0.peek(key) != nil } }

    func image(for key: DecodeKey) -> DecodedImage? { images.withLock { $0.value(for: key) } }

    func add(_ image: DecodedImage, for key: DecodeKey) {
        let released = images.withLock { images in
            let replaced = images.insert(image, for: key, weight: image.byteCount)
            let maximum = images.entries.map(\.weight).max() ?? 0
            return replaced + images.evict(downTo: maximum + maximum / 2, sparesNewest: true)
        }
        // Released here, outside the lock: freeing pixels takes time.
        _ = released
    }
}
