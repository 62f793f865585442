import Downloading
import HTTPTypes
import Imaging
import Memory
import SharedCaching
import Synchronization

/// The record of a source, without its bytes: enough to find what was made from it, and to ask its origin whether it
/// has changed.
final class SourceRecord: Sendable {
    let head: SourceHead
    let header: ImageHeader
    /// Bytes of the file.
    let byteCount: Int
    /// Until when, by the service's clock, an image that lacks pixels is kept; nil for one that is whole as far as is
    /// known.
    let incompleteUntil: Duration?
    /// Tells this object from all others, also from those that came before it.
    let serial = SourceRecord.lastSerial.wrappingAdd(1, ordering: .relaxed).newValue
    private static let lastSerial = Atomic<UInt64>(0)
    /// Under which it may be shared.
    let generations: LayerGenerations

    /// Joins the origin's fields and the image's header.
    init(
        _ head: SourceHead, header: ImageHeader, byteCount: Int, incompleteUntil: Duration? = nil,
        generations: LayerGenerations = LayerGenerations()
    ) {
        self.head = head
        self.header = header
        self.byteCount = byteCount
        self.incompleteUntil = incompleteUntil
        self.generations = generations
    }

    /// Reads the image's header; of what its origin calls text, only drawings are images.
    convenience init(
        _ head: SourceHead, bytes: SharedBytes, under generations: LayerGenerations = LayerGenerations()
    ) throws(ImagingError) {
        let header = try ImageHeader.inspect(bytes)
        if head.isText, !header.format.holdsShapes { throw .notAnImage }
        self.init(head, header: header, byteCount: bytes.count, generations: generations)
    }

    /// The same file, with what its origin said later, or with another end of its use.
    convenience init(
        _ head: SourceHead, of known: SourceRecord, incompleteUntil: Duration? = nil,
        under generations: LayerGenerations = LayerGenerations()
    ) {
        self.init(
            head, header: known.header, byteCount: known.byteCount, incompleteUntil: incompleteUntil,
            generations: generations.filled(from: known.generations))
    }

    /// Bytes of memory that it takes besides its identity, roughly.
    var cost: Int { head.byteCount + header.byteCount + 128 }
    var identity: SourceIdentity { head.identity }
    var validator: SourceValidator { head.validator }
    var freshness: SourceFreshness { head.freshness }
    var version: SourceVersion { SourceVersion(source: identity, validator: validator) }
}

/// The bytes of one version of a source.
struct SourceBody: Sendable {
    let validator: SourceValidator
    let bytes: SharedBytes

    /// Bytes of memory that it takes, roughly.
    var cost: Int { bytes.footprint + 128 }
}

extension PerSource where Value == SourceRecord {
    /// When the latest of the sources was changed; nil if one of them does not say.
    var lastModified: HTTPDate? {
        var latest = image.head.lastModified
        for record in additional {
            guard let known = latest, let other = record.head.lastModified else { return nil }
            latest = Swift.max(known, other)
        }
        return latest
    }

    /// Whether these are the records with these ``SourceRecord/serial``s.
    func areSame(as serials: PerSource<UInt64>) -> Bool {
        image.serial == serials.image && additional.elementsEqual(serials.additional) { $0.serial == $1 }
    }
}

/// The generations of a source in the shared cache and in the result store before it was fetched or found there; nil
/// where they are not known.
struct LayerGenerations: Sendable, Equatable {
    var cache: SharedGenerations?
    var store: SharedGenerations?

    /// These, and where they are not known the others.
    func filled(from others: LayerGenerations) -> LayerGenerations {
        LayerGenerations(cache: cache ?? others.cache, store: store ?? others.store)
    }
}
