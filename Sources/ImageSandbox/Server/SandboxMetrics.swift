import Imaging
import Recipes
import Telemetry

struct SandboxMetrics: Sendable {
    enum Cause: String, CaseIterable {
        case crash
        /// The worker crashed after the kernel denied it memory.
        case outOfMemory = "shortage"
        /// An external signal ended the worker: from the kernel when memory is short, or from a person.
        case killed
        /// The worker exceeded the kernel's limit on CPU time or written bytes.
        case limit
        /// The worker tried a forbidden system call.
        case forbiddenCall = "violation"
        /// The worker sent an invalid or unexpected message, or was busy without a request.
        case protocolError = "breach"
        case deadline
        /// The worker used far more CPU time than estimated from the image's header.
        case processorTimeExceeded = "exhausted"
        case canceled = "cancelled"
        case recycled
    }

    private let ends: CounterFamily
    let retries: Counter
    let quarantined: Counter
    private let fastDecodes: Counter
    private let fallbacks: CounterFamily

    init(registry: MetricsRegistry) {
        ends = registry.counters(
            "alula_decode_worker_ends_total", help: "Worker processes that ended and were replaced.", labels: "cause",
            counting: "process")
        for cause in Cause.allCases { _ = ends.counter(cause.rawValue) }
        retries = registry.counter(
            "alula_decode_retries_total", help: "Images retried in another worker process.", counting: "image")
        quarantined = registry.counter(
            "alula_quarantined_total",
            help: "Sources rejected for a while because they crashed or blocked a worker process.", counting: "source")
        fastDecodes = registry.counter(
            "alula_jpeg_fast_decodes_total", help: "Reduced JPEG images decoded by the fast decoder.", counting: "image"
        )
        fallbacks = registry.counters(
            "alula_jpeg_fallbacks_total", help: "Reduced JPEG images that fell back to libjpeg.", labels: "reason",
            counting: "image")
        for reason in JPEGDecoding.Reason.allCases { _ = fallbacks.counter(reason.rawValue) }
    }

    func decoded(_ image: DecodedImage) {
        switch image.jpegDecoding {
        case .fast: fastDecodes.increment()
        case .fallback(let reason): fallbacks.counter(reason.rawValue).increment()
        case nil: break
        }
    }

    func recordEnd(_ cause: Cause) { ends.counter(cause.rawValue).increment() }
}
