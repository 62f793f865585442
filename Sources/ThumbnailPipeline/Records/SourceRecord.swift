import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import Synchronization
import Text
import ThumbnailTypes

/// The metadata of a source: identifies everything derived from it, and validates it with its origin.
final class SourceRecord: Sendable {
    let head: SourceHead
    let header: ImageHeader
    let byteCount: Int
    /// Monotonic time at which a truncated source is fetched again; nil if complete.
    let incompleteUntil: Duration?
    /// Unique for the life of the process, also across deallocated records.
    let serial = SourceRecord.lastSerial.wrappingAdd(1, ordering: .relaxed).newValue
    private static let lastSerial = Atomic<UInt64>(0)
    let generations: LayerGenerations
    /// Detected faces, largest first; nil before a search.
    let faces: [Face]?

    init(
        _ head: SourceHead, header: ImageHeader, byteCount: Int, incompleteUntil: Duration? = nil, faces: [Face]? = nil,
        generations: LayerGenerations = [:]
    ) {
        self.faces = faces
        self.head = head
        self.header = header
        self.byteCount = byteCount
        self.incompleteUntil = incompleteUntil
        self.generations = generations
    }

    /// - Parameter old: The previous record, whose faces are kept if the bytes are the same.
    convenience init(
        _ head: SourceHead, bytes: SharedBytes, after old: SourceRecord? = nil,
        under generations: LayerGenerations = [:]
    ) throws(ImagingError) {
        let header = try ImageHeader.inspect(bytes)
        try head.check(header)
        // A truncated file may have hidden some faces.
        let isSame = old?.validator == head.validator && old?.byteCount == bytes.count
        let faces = isSame && old?.incompleteUntil == nil ? old?.faces : nil
        self.init(head, header: header, byteCount: bytes.count, faces: faces, generations: generations)
    }

    /// - Parameters:
    ///   - head: New fields from the origin.
    ///   - faces: Nil keeps the stored record's faces.
    convenience init(
        _ head: SourceHead, of stored: SourceRecord, incompleteUntil: Duration? = nil, faces: [Face]? = nil,
        under generations: LayerGenerations = [:]
    ) {
        self.init(
            head, header: stored.header, byteCount: stored.byteCount, incompleteUntil: incompleteUntil,
            faces: faces ?? stored.faces, generations: generations.filled(from: stored.generations))
    }

    var cost: Int { head.byteCount + header.byteCount + (faces?.count ?? 0) * MemoryLayout<Face>.stride + 128 }
    var identity: SourceIdentity { head.identity }
    var validator: SourceValidator { head.validator }
    var freshness: SourceFreshness { head.freshness }
    var version: SourceVersion { head.version }
}

extension SourceRecord {
    /// Kinds of values derived from a source.
    enum Derivative {
        case record, source, result
        case pixels(byteCount: Int)
    }

    func mayKeep(_ derivative: Derivative, inMemory: Bool = true) -> Bool {
        head.mayKeep(derivative, inMemory: inMemory)
    }

    /// Rejects formats that the settings of its named origin exclude.
    func checkFormat() throws(ImagingError) {
        if let formats = identity.rules.origin?.expectation.formats,
            !formats.contains(ExactText(header.format.rawValue))
        {
            throw .formatNotAccepted(header.format)
        }
    }
}

extension SourceHead {
    /// The only place that decides which caches may keep a value.
    ///
    /// No cache stores responses that forbid shared caching, or that the origin's policy excludes. A private source
    /// that is not `public` stays in memory.
    func mayKeep(_ derivative: SourceRecord.Derivative, inMemory: Bool = true) -> Bool {
        guard freshness.storability.isStorable, inMemory || !freshness.isMemoryOnly else { return false }
        guard let origin = identity.rules.origin else { return true }
        switch (origin.cachePolicy, derivative) {
        case (.all, .pixels(let byteCount)): return origin.maximumDecodedBytes.map { byteCount <= $0 } ?? true
        case (.all, _), (.results, .record), (.results, .result): return true
        case (.results, _), (.none, _): return false
        }
    }
}

extension PerSource where Value == SourceRecord {
    /// The latest `Last-Modified` of the sources; nil if one of them has none.
    var lastModified: HTTPDate? {
        var latest = main.head.lastModified
        for record in additional {
            guard let stored = latest, let other = record.head.lastModified else { return nil }
            latest = Swift.max(stored, other)
        }
        return latest
    }

    /// Whether the records have these ``SourceRecord/serial``s.
    func areSame(as serials: PerSource<UInt64>) -> Bool {
        main.serial == serials.main && additional.elementsEqual(serials.additional) { $0.serial == $1 }
    }
}

extension RenderedImage {
    var cost: Int { image.bytes.footprint + 1_536 }
}

extension Thumbnail {
    /// - Parameters:
    ///   - now: Seconds since 1970.
    ///   - isFromCache: Which sources were used without contacting their origins; nil means all.
    init(
        _ result: RenderedImage, of records: PerSource<SourceRecord>, isFromCache: PerSource<Bool>? = nil, at now: Int,
        bounds: ClientMaxAge
    ) {
        var freshness =
            records.additional.isEmpty
            ? Freshness(records.main.freshness, at: now, isFromCache: isFromCache?.main ?? true, bounds: bounds)
            : Freshness(leastOf: records.mapValues { $0.freshness }, isFromCache: isFromCache, at: now, bounds: bounds)
        if result.isIncomplete { freshness.limit(to: Freshness.maximumLifetimeOfIncomplete) }
        self.init(result, sourceHeader: records.main.header, lastModified: records.lastModified, freshness: freshness)
    }
}
