import Coordination
import Crypto
import Downloading
import HTTPTypes
package import Imaging
import Memory
import Synchronization
import ThumbnailTypes

/// An image opened for many results: uploaded by a client, or fetched once for all of them.
package final class OpenedSource: Sendable {
    let record: SourceRecord
    let bytes: SharedBytes
    /// Whether everything derived from it is dropped when the caller is done.
    let isUncacheable: Bool
    /// The decoded images of this source, in use by this caller.
    let held = ImagesInUse()
    private let isAdmitted: Atomic<Bool>
    /// The freshness stated by its origin; nil for an uploaded file.
    private let fetched: SourceFreshness?

    package var header: ImageHeader { record.header }

    /// Creates a source from its record and file.
    ///
    /// - Parameter isAdmitted: Whether work was already admitted and done for it; otherwise admission of the first work
    ///   on it applies to all.
    init(
        _ record: SourceRecord, bytes: SharedBytes, isUncacheable: Bool = false, isAdmitted: Bool = true,
        fetched: SourceFreshness? = nil
    ) {
        self.fetched = fetched
        self.record = record
        self.bytes = bytes
        self.isUncacheable = isUncacheable
        self.isAdmitted = Atomic(isAdmitted)
    }

    /// Returns the freshness of a thumbnail made from it, as stated by the origin of its source; nil if there is none.
    func freshness(of thumbnail: Thumbnail) -> Freshness? {
        guard record.identity.isUpload else { return thumbnail.freshness }
        return fetched.map { thumbnail.freshness.restricted(by: $0, at: record.head.receivedAt.secondsSince1970) }
    }

    /// Admits or rejects work on it; checked only once, because later pieces of a call would otherwise wait for its own
    /// earlier ones.
    func admit<Refusal: Error>(_ judge: () throws(Refusal) -> Void) throws(Refusal) {
        if isAdmitted.load(ordering: .relaxed) { return }
        try judge()
        isAdmitted.store(true, ordering: .relaxed)
    }

    /// Creates a source from an upload, identified by the SHA-256 of the file, so that equal files are the same image.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - now: The wall clock's seconds since 1970.
    /// - Throws: ``ImagingError`` if the file is not an image, or its header is unreadable.
    convenience init(upload bytes: SharedBytes, at now: Int) throws(ImagingError) {
        let digest = bytes.withBytes { SHA256.hash($0) }.hexadecimal
        self.init(try Self.record(of: bytes, named: digest, at: now), bytes: bytes)
    }

    /// Creates a source that may not be stored, identified for one use.
    ///
    /// - Throws: ``ImagingError``.
    convenience init(
        passing bytes: SharedBytes, name: String, at now: Int, fetched: SourceFreshness? = nil
    ) throws(ImagingError) {
        self.init(try Self.record(of: bytes, named: name, at: now), bytes: bytes, isUncacheable: true, fetched: fetched)
    }

    private static func record(
        of bytes: SharedBytes, named name: String, at now: Int
    ) throws(ImagingError) -> SourceRecord {
        let date = HTTPDate(secondsSince1970: now)
        // It never becomes stale, because no origin could be contacted for it.
        let head = SourceHead(
            identity: SourceIdentity(given: name), validator: .digest(name),
            headerFields: [.cacheControl: "max-age=2147483648"], requestedAt: date, receivedAt: date)
        return try SourceRecord(head, bytes: bytes)
    }
}

/// The decoded images that a caller uses while rendering many results of one source, so that each is decoded once even
/// if it does not fit in the decoded cache.
///
/// Together they take at most half as much again as the largest: all levels of a page take a third more than the page,
/// and pages used earlier are dropped.
final class ImagesInUse: Sendable {
    private struct State {
        /// In order of use, the most recent last.
        var images: [(key: DecodeKey, image: DecodedImage)] = []
    }

    private let state = Locked(State())

    init() {}

    /// Returns whether the image is in use, without changing the order.
    func contains(_ key: DecodeKey) -> Bool { state.withLock { $0.images.contains { $0.key == key } } }

    func image(for key: DecodeKey) -> DecodedImage? {
        state.withLock { state in
            guard let index = state.images.lastIndex(where: { $0.key == key }) else { return nil }
            let found = state.images.remove(at: index)
            state.images.append(found)
            return found.image
        }
    }

    func hold(_ image: DecodedImage, for key: DecodeKey) {
        let released = state.withLock { state -> [DecodedImage] in
            state.images.removeAll { $0.key == key }
            state.images.append((key, image))
            let sizes = state.images.map(\.image.byteCount)
            let most = sizes.reduce(0, max)
            var (sum, count) = (sizes.reduce(0, +), 0)
            while sum > most + most / 2, count < sizes.count - 1 {
                sum -= sizes[count]
                count += 1
            }
            defer { state.images.removeFirst(count) }
            return state.images.prefix(count).map(\.image)
        }
        // Released here, outside the lock: freeing pixels takes time.
        _ = released
    }
}
