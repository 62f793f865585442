import Coordination
import Imaging
import Memory
import ThumbnailTypes

struct RenderJob: Sendable {
    let key: ResultKey
    let records: PerSource<SourceRecord>
    /// The role of each source; nil for the image.
    let roles: PerSource<AdditionalSource.Role?>
    /// The sources' files; nil where not available.
    let bytes: PerSource<SharedBytes?>
    /// The timeout of the wait for a turn or a worker; nil for the lane's default.
    let queueTimeout: Duration?
    /// The time that the caller has waited for the shared layers.
    let allowances: LayerAllowances
    /// The caller's earlier lookup in the shared cache; nil if there was none.
    let look: EarlierLookup?
    /// The decoded images in use by the caller; nil if there are none.
    let held: ImagesInUse?

    init(
        _ key: ResultKey, for call: Call, records: PerSource<SourceRecord>,
        bytes: PerSource<SharedBytes?>? = nil, queueTimeout: Duration? = nil
    ) {
        let request = call.request
        allowances = call.allowances
        look = call.look
        held = call.opened?.held
        self.key = key
        self.records = records
        roles = request.roles
        self.bytes = bytes ?? records.mapValues { _ in nil }
        self.queueTimeout = queueTimeout
    }

    var decodes: PerSource<DecodeJob> {
        key.decodeKeys.mapWithIndex { DecodeJob(key: $1, record: records[$0], bytes: bytes[$0]) }
    }
}

struct DecodeJob: Sendable {
    let key: DecodeKey
    let record: SourceRecord
    /// The source's file; nil if it is not available.
    let bytes: SharedBytes?

    /// The memory that the decode needs in bytes.
    var cost: Int { record.header.cost(of: key.plan, fileByteCount: bytes?.count ?? 0) }
}

/// The result of a render, and the outcomes of the cache lookups.
struct Render: Sendable {
    let result: RenderedImage
    var participation = Participation.started
    /// The result cache's outcome for the caller that started it.
    var outcome = CacheLayerStatus.Outcome.uriMiss
    var isStored = false
    var shared: [CacheLayerStatus] = []
    /// The decoded cache's outcome; nil if it was not queried.
    var decoded: CacheLayerStatus?
    var timings: [StepTiming] = []

    /// The caches' outcomes for one caller: those that joined did not query the caches behind the result cache.
    var status: [CacheLayerStatus] {
        let result = CacheLayerStatus(
            .result, participation == .cached ? .hit : outcome, isCollapsed: participation == .joined,
            isStored: participation == .started && isStored)
        return participation == .started ? [result] + shared + [decoded].compactMap(\.self) : [result]
    }
}
