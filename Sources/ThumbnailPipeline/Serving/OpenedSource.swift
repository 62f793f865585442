import Coordination
import Crypto
import Downloading
import HTTPTypes
package import Imaging
import Memory
import Synchronization
import ThumbnailTypes

/// An image that a caller has in hand while many results are made from it: sent by a client, or fetched for all of them
/// at once.
package final class OpenedSource: Sendable {
    let record: SourceRecord
    /// The bytes of the file.
    let bytes: SharedBytes
    /// Whether all that was made from it is dropped when the caller is done.
    let isPassing: Bool
    /// The decoded images of this source, kept for this caller.
    let held = HeldImages()
    private let isAdmitted: Atomic<Bool>
    /// The freshness that its origin stated; nil for a file that was brought.
    private let fetched: SourceFreshness?

    /// The header of the file.
    package var header: ImageHeader { record.header }

    /// Takes what is known of an image and its file.
    ///
    /// - Parameter isAdmitted: Whether work was admitted and done for it; else the first work on it is judged for all.
    init(
        _ record: SourceRecord, bytes: SharedBytes, isPassing: Bool = false, isAdmitted: Bool = true,
        fetched: SourceFreshness? = nil
    ) {
        self.fetched = fetched
        self.record = record
        self.bytes = bytes
        self.isPassing = isPassing
        self.isAdmitted = Atomic(isAdmitted)
    }

    /// The freshness of a thumbnail that was made from it, as the origin of its source has it; nil if there is none.
    func freshness(of thumbnail: Thumbnail) -> Freshness? {
        guard record.identity.isGiven else { return thumbnail.freshness }
        return fetched.map { thumbnail.freshness.restricted(by: $0, at: record.head.receivedAt.secondsSince1970) }
    }

    /// Lets work on it go on, or refuses it: judged once, because the other work of a call is what the next piece would
    /// wait for.
    func admit<Refusal: Error>(_ judge: () throws(Refusal) -> Void) throws(Refusal) {
        if isAdmitted.load(ordering: .relaxed) { return }
        try judge()
        isAdmitted.store(true, ordering: .relaxed)
    }

    /// An image that a client sent: known by the SHA-256 of the file, so that the same file is the same image.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - now: The wall clock's seconds since 1970.
    /// - Throws: ``ImagingError`` for a file that is no image, or whose header cannot be read.
    convenience init(upload bytes: SharedBytes, at now: Int) throws(ImagingError) {
        let digest = bytes.withBytes { SHA256.hash($0) }.hexadecimal
        self.init(try Self.record(of: bytes, named: digest, at: now), bytes: bytes)
    }

    /// An image of which nothing may be stored: known for this time alone.
    ///
    /// - Throws: ``ImagingError``.
    convenience init(
        passing bytes: SharedBytes, name: String, at now: Int, fetched: SourceFreshness? = nil
    ) throws(ImagingError) {
        self.init(try Self.record(of: bytes, named: name, at: now), bytes: bytes, isPassing: true, fetched: fetched)
    }

    private static func record(
        of bytes: SharedBytes, named name: String, at now: Int
    ) throws(ImagingError) -> SourceRecord {
        let date = HTTPDate(secondsSince1970: now)
        // It never becomes stale: nobody could be asked for it.
        let head = SourceHead(
            identity: SourceIdentity(given: name), validator: .digest(name),
            headerFields: [.cacheControl: "max-age=2147483648"], requestedAt: date, receivedAt: date)
        return try SourceRecord(head, bytes: bytes)
    }
}

/// Decoded images that a caller holds while many results are made of one source, so that each is decoded once even if
/// the decoded cache has no room for it.
///
/// Together they are at most half as large again as the largest: all levels of a page take a third more than the page,
/// and pages that were used before give way.
final class HeldImages: Sendable {
    private struct State {
        /// The last one is the most recently used.
        var images: [(key: DecodeKey, image: DecodedImage)] = []
    }

    private let state = Locked(State())

    init() {}

    /// Whether the image is held; changes no order.
    func contains(_ key: DecodeKey) -> Bool { state.withLock { $0.images.contains { $0.key == key } } }

    /// The image, if it is held.
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
        // Released here, outside the lock: giving back pixels takes time.
        _ = released
    }
}
