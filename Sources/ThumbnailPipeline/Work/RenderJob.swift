import Coordination
import Imaging
import Memory
import ThumbnailTypes

/// The inputs of a render.
struct RenderJob: Sendable {
    let key: ResultKey
    let records: PerSource<SourceRecord>
    /// The use of each source; nil for the image.
    let roles: PerSource<AdditionalSource.Role?>
    /// The sources' files; nil for those that are not at hand.
    let bytes: PerSource<SharedBytes?>
    /// Bound on the wait for a turn or a worker; nil for the lane's own bound.
    let patience: Duration?
    /// The time that the caller has waited for what instances share.
    let allowances: LayerAllowances
    /// The caller's earlier look into the shared cache; nil if there was none.
    let look: EarlierLook?
    /// Decoded images that the caller holds; nil if it holds none.
    let held: HeldImages?

    /// A job for a call.
    init(
        _ key: ResultKey, for call: Call, records: PerSource<SourceRecord>,
        bytes: PerSource<SharedBytes?>? = nil, patience: Duration? = nil
    ) {
        let request = call.request
        allowances = call.allowances
        look = call.look
        held = call.opened?.held
        self.key = key
        self.records = records
        roles = request.roles
        self.bytes = bytes ?? records.mapValues { _ in nil }
        self.patience = patience
    }

    /// The decode of each source.
    var decodes: PerSource<DecodeJob> {
        key.decodeKeys.mapWithIndex { DecodeJob(key: $1, record: records[$0], bytes: bytes[$0]) }
    }
}

/// The inputs of a decode.
struct DecodeJob: Sendable {
    let key: DecodeKey
    let record: SourceRecord
    /// The source's file; nil if it is not at hand.
    let bytes: SharedBytes?

    /// Bytes of memory that the decode takes.
    var price: Int { record.header.price(of: key.plan, fileByteCount: bytes?.count ?? 0) }
}

/// The result of one render, and how the caches answered.
struct Render: Sendable {
    let result: RenderedImage
    /// How one caller took part in it.
    var participation = Participation.started
    /// The result cache's answer to the caller that started it.
    var outcome = CacheLayerStatus.Outcome.uriMiss
    var isStored = false
    /// The answers of what instances share, as far as it was asked.
    var shared: [CacheLayerStatus] = []
    /// The decoded cache's answer; nil if it was not asked.
    var decoded: CacheLayerStatus?
    var timings: [StepTiming] = []

    /// The answers of the caches to one caller: others did not ask those behind the result cache.
    var status: [CacheLayerStatus] {
        let result = CacheLayerStatus(
            .result, participation == .cached ? .hit : outcome, isCollapsed: participation == .joined,
            isStored: participation == .started && isStored)
        return participation == .started ? [result] + shared + [decoded].compactMap(\.self) : [result]
    }
}
