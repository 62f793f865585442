import Crypto
import Downloading
import HTTPTypes
package import Imaging
import Memory
import Synchronization

/// An image that a caller has in hand while many results are made from it: sent by a client, or fetched for all of them
/// at once.
package final class GivenSource: Sendable {
    let record: SourceRecord
    /// The bytes of the file.
    let bytes: SharedBytes
    /// Whether all that was made from it is dropped when the caller is done.
    let isPassing: Bool
    /// The decoded images of this source, kept for this caller.
    let held = HeldImages()
    private let isAdmitted: Atomic<Bool>

    /// The header of the file.
    package var header: ImageHeader { record.header }

    /// Takes what is known of an image and its file.
    ///
    /// - Parameter isAdmitted: Whether work was admitted and done for it; else the first work on it is judged for all.
    init(_ record: SourceRecord, bytes: SharedBytes, isPassing: Bool = false, isAdmitted: Bool = true) {
        self.record = record
        self.bytes = bytes
        self.isPassing = isPassing
        self.isAdmitted = Atomic(isAdmitted)
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
    convenience init(passing bytes: SharedBytes, name: String, at now: Int) throws(ImagingError) {
        self.init(try Self.record(of: bytes, named: name, at: now), bytes: bytes, isPassing: true)
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
