import Downloading
import Recipes
import ThumbnailTypes

protocol SourceKeyed: Hashable, Sendable {
    associatedtype Source: Hashable & Sendable
    var source: Source { get }
    var additionalSources: [Source] { get }
    /// Sources whose removal also removes the entry.
    var dependencies: [Source] { get }
    /// Bytes of an entry besides its value: the key and the cache's bookkeeping.
    var byteCount: Int { get }
}

extension SourceKeyed {
    var additionalSources: [Source] { [] }
    var dependencies: [Source] { [source] + additionalSources }
    var byteCount: Int { 0 }
}

extension SourceKeyed where Source == SourceIdentity {
    /// Includes the wildcard, because a purge removes the copies of all clients and tenants.
    var dependencies: [SourceIdentity] {
        let sources = [source] + additionalSources
        guard sources.contains(where: \.hasWildcard) else { return sources }
        return sources + sources.compactMap { $0.hasWildcard ? $0.wildcard : nil }
    }
}

struct SourceVersion: Hashable, Sendable {
    let source: SourceIdentity
    let validator: SourceValidator
}

extension SourceHead {
    var version: SourceVersion { SourceVersion(source: identity, validator: validator) }
}

struct DecodeKey: SourceKeyed {
    let source: SourceIdentity
    let validator: SourceValidator
    let plan: DecodePlan
    /// The detected border of a vector image, which is drawn again inside it; nil for other images.
    var border: BorderTrim?
    /// The form to which a step has scaled the pixels; nil for pixels as decoded.
    var form: AdditionForm?

    var byteCount: Int { EntryCost.bytes(of: Self.self) + source.byteCount + validator.byteCount }
}

extension DecodeKey {
    /// The key of the same pixels without a gain map; nil if this key has none.
    var withoutGainMap: DecodeKey? {
        plan.withoutGainMap.map {
            DecodeKey(source: source, validator: validator, plan: $0, border: border, form: form)
        }
    }

    /// The key of the same decode at another level.
    func with(level: Int) -> DecodeKey {
        DecodeKey(source: source, validator: validator, plan: plan.with(level: level))
    }

    func timeCost(of header: ImageHeader, fileByteCount: Int) -> Duration {
        let first = header.timeCost(of: plan, fileByteCount: fileByteCount)
        return first + (border?.timeCost(of: plan, of: header, fileByteCount: fileByteCount) ?? .zero)
    }
}

/// Identifies a result by the versions of its sources and everything that affects pixels and encoding.
///
/// Copies share one object: a cache stores a key three times, and a plan takes hundreds of bytes.
struct ResultKey: SourceKeyed {
    private struct Components: Hashable {
        let source: SourceIdentity
        let validator: SourceValidator
        let additional: [SourceVersion]
        let plan: RenderPlan
    }

    private final class Shared: Sendable {
        let components: Components

        init(_ components: Components) { self.components = components }
    }

    private let shared: Shared
    private let hash: Int

    var source: SourceIdentity { shared.components.source }
    var validator: SourceValidator { shared.components.validator }
    var additional: [SourceVersion] { shared.components.additional }
    var plan: RenderPlan { shared.components.plan }

    init(source: SourceIdentity, validator: SourceValidator, additional: [SourceVersion] = [], plan: RenderPlan) {
        precondition(additional.count == plan.additions.count, "the plan is for another number of sources")
        let components = Components(source: source, validator: validator, additional: additional, plan: plan)
        shared = Shared(components)
        hash = components.hashValue
    }

    static func == (one: ResultKey, other: ResultKey) -> Bool {
        one.shared === other.shared || one.hash == other.hash && one.shared.components == other.shared.components
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    var additionalSources: [SourceIdentity] { additional.map(\.source) }

    var byteCount: Int {
        additional.reduce(
            EntryCost.bytes(of: Self.self) + MemoryLayout<Components>.stride + source.byteCount + validator.byteCount
                + plan.memoryByteCount
        ) { $0 + MemoryLayout<SourceVersion>.stride + $1.source.byteCount + $1.validator.byteCount }
    }

    var decodeKey: DecodeKey {
        DecodeKey(source: source, validator: validator, plan: plan.decode, border: plan.drawnBorder)
    }

    var decodeKeys: PerSource<DecodeKey> {
        PerSource(
            decodeKey,
            additional: zip(additional, plan.additions).map {
                DecodeKey(source: $0.source, validator: $0.validator, plan: $1)
            })
    }
}

extension ResultKey {
    /// - Throws: ``ImagingError`` if the limits or the output format exclude the source, the page or the result.
    init(for request: Request, of records: PerSource<SourceRecord>, by configuration: PipelineConfiguration) throws {
        let record = records.main
        try request.check(byteCount: record.byteCount)
        try record.checkFormat()
        for (index, record) in records.additional.enumerated() {
            let role = request.additional[index].role
            try AdditionalSourceError.attributing(to: role) { try record.checkFormat() }
        }
        let plan = try RenderPlan(for: request, of: records.mapValues(\.header), by: configuration)
        self.init(
            source: record.identity, validator: record.validator, additional: records.additional.map(\.version),
            plan: plan)
    }
}

extension Request {
    func check(byteCount: Int) throws(DownloadError) {
        if let maximum = limits.maximumSourceBytes, byteCount > maximum { throw .tooLarge }
    }
}

struct SourceKey: SourceKeyed {
    let source: SourceIdentity

    var byteCount: Int { EntryCost.bytes(of: Self.self) + source.byteCount }
}

/// The memory of a cache entry, without objects that its key and value refer to.
enum EntryCost {
    /// A key is stored three times: by key, by source, and in order of use.
    ///
    /// Hash tables have a load factor of 25 to 75 %.
    static func bytes<Key: SourceKeyed>(of key: Key.Type) -> Int { 6 * MemoryLayout<Key>.stride + 512 }
}

extension SourceValidator {
    var byteCount: Int { description.utf8.count + 48 }
}
