import Coordination
import DiskCaching
import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import SharedCaching
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// A pipeline with real imaging and a scripted origin.
final class PipelineFixture: Sendable {
    let time = HookedTimekeeper()
    let origin: ScriptedOrigin
    let caches: CacheLayers
    let store: DiskStore?
    let sharedStore: SharedStore?
    let resultStore: SharedStore?
    let downloader: ImageDownloader
    let workers: WorkerPool
    let lanes: WorkLanes
    let registry = MetricsRegistry()
    let log = EventLog()
    /// Counts downloads that have ended, including those served from the caches.
    let downloadEnds = EventCounter()
    let budget: MemoryBudget
    /// Counts evictions of everything; a waiter requests one after joining the line.
    let lastEvictions = EventCounter()
    let pipeline: ImagePipeline
    let control: PipelineControl
    private let workerCount: Int
    private let holds = Locked<[WorkerHold]>([])

    /// A pipeline with `workerCount` threads, whose origin serves the quarters image at `/a`.
    ///
    /// A folder enables a disk cache, whose results are keyed with `versions`. A URL enables a shared cache on that
    /// server.
    init(
        workerCount: Int = 2, maximumQueued: Int = 1_000, staleAllowances: StaleAllowances = StaleAllowances(),
        diskFolder: String? = nil, versions: String = "test", sharedCache: String? = nil, isEphemeral: Bool = false,
        objects: ObjectsInMemory? = nil,
        sharesSources: Bool = false, memoryLimit: Int = .max,
        codec: any ImageCodec = InProcessCodec(), faceDetector: FaceDetector? = nil, logger: Logger = .silent,
        _ configure: (inout PipelineConfiguration) -> Void = { _ in }
    ) throws {
        try ImageLibrary.start()
        self.workerCount = workerCount
        var configuration = PipelineConfiguration()
        configuration.rules.findsFaces = faceDetector != nil
        configure(&configuration)
        origin = ScriptedOrigin(timekeeper: time)
        store = try diskFolder.map { [time] folder throws(DiskStoreError) in
            try DiskStore(
                DiskStoreConfiguration(
                    folder: folder, capacities: [.source: 1 << 22, .result: 1 << 22, .record: 1 << 20],
                    contentVersion: DiskLayer.contentVersion), logger: .silent, timekeeper: time)
        }
        let disk = store.map { DiskLayer(store: $0, versions: versions) }
        sharedStore = try sharedCache.map { url throws in
            var settings = SharedCacheConfiguration(address: try #require(SharedCacheAddress(url)))
            settings.store.timeout = .queueTimeout
            settings.store.interval = .milliseconds(20)
            settings.store.isReadOnly = isEphemeral
            return try SharedStore(settings, logger: .silent, timekeeper: SystemTimekeeper())
        }
        var rules = SharedLayer.Rules(digest: versions)
        rules.staleAllowances = staleAllowances
        rules.sharesSources = sharesSources
        resultStore = objects.map { objects in
            var settings = SharedStoreConfiguration()
            settings.timeout = .queueTimeout
            settings.interval = .milliseconds(20)
            settings.isReadOnly = isEphemeral
            return SharedStore(objects, configuration: settings, logger: .silent, timekeeper: SystemTimekeeper())
        }
        caches = CacheLayers(
            configuration: configuration, disk: disk, sharedCache: sharedStore, resultStore: resultStore, rules: rules,
            events: log, timekeeper: time)
        var downloads = DownloadConfiguration(
            origins: [Origin(name: "local", location: .folder(path: "/images"))])
        downloads.staleAllowances = staleAllowances
        var observer = DownloadMetrics.observer(registry: registry, events: log)
        // It would sleep on the manual clock.
        observer.onActivityChange = nil
        observer.onFinish = { [downloadEnds, finished = observer.onFinish] transfer in
            finished(transfer)
            downloadEnds.increment()
        }
        downloader = ImageDownloader(
            rules: DownloadRules(downloads), loader: origin, cache: CachedSources(caches), timekeeper: time,
            observer: observer)
        // Memory in use by other tests in this process does not count.
        budget = MemoryBudget(
            limit: memoryLimit, timekeeper: time,
            evict: { [lastEvictions] step in
                if step == .empty { lastEvictions.increment() }
                return 0
            })
        workers = WorkerPool(
            count: workerCount, maximumQueued: maximumQueued, name: "test", timekeeper: time.clock,
            onThreadExit: { ImageLibrary.endThread() })
        lanes = WorkLanes(
            small: workers,
            expensive: WorkerPool(
                count: 1, maximumQueued: maximumQueued, name: "test expensive", timekeeper: time.clock,
                onThreadExit: { ImageLibrary.endThread() }),
            maximumWaiting: maximumQueued, timekeeper: time.clock)
        pipeline = ImagePipeline(
            configuration: configuration, downloader: downloader, caches: caches,
            resources: WorkResources(
                lanes: lanes, codec: codec, budget: budget, metrics: PipelineMetrics(registry: registry), events: log,
                logger: logger, faceDetector: faceDetector),
            timekeeper: time)
        control = PipelineControl(of: pipeline)
        PipelineGauges(of: pipeline).register(in: registry)
        origin.serve(SampleFiles.jpeg)
        if let sharedStore {
            try FleetPurges(of: pipeline, announcedBy: sharedStore).start(beside: store, logger: .silent)
        }
        try resultStore?.start()
    }

    deinit {
        // A failed test may not have released them, and the threads are joined.
        for hold in holds.withLock({ $0 }) { hold.release() }
        Task { [sharedStore, resultStore] in
            await sharedStore?.shutDown(timeLimit: .zero)
            await resultStore?.shutDown(timeLimit: .zero)
        }
        workers.shutDown()
        lanes.expensive.shutDown()
    }

    func thumbnail(
        _ path: String = "/a", width: Int? = 20, format: FormatChoice = .negotiated([:]), receipt: String = "receipt",
        cacheControl: String? = nil
    ) async throws -> Thumbnail {
        try await pipeline.thumbnail(
            for: .path(path, width: width, format: format), directives: RequestCacheControl(cacheControl),
            receipt: receipt)
    }

    func thumbnail(of request: Request) async throws -> Thumbnail {
        try await pipeline.thumbnail(for: request, directives: .none, receipt: "receipt")
    }

    /// Starts a request, which waits for its download or for a shared render when this returns.
    func start(_ path: String = "/a", width: Int? = 20, receipt: String = "receipt") -> Task<Thumbnail, any Error> {
        Task.immediate { try await self.thumbnail(path, width: width, receipt: receipt) }
    }

    /// Blocks all workers until the returned hold is released.
    func holdWorkers() async -> WorkerHold {
        let hold = WorkerHold()
        holds.withLock { $0.append(hold) }
        for _ in 0..<workerCount { hold.occupy(workers) }
        await hold.arrivals(workerCount)
        return hold
    }

    /// Waits until this number of jobs waits for a worker.
    func workersWaitedFor(_ count: Int) async throws {
        try #require(await eventually { self.lanes.waitingCount == count })
    }

    /// Requires that this number of callers waits for the only download.
    func requireDownload(callers count: Int) throws {
        try #require(downloader.fetches.first?.receipts.count == count)
    }

    /// Number of callers that wait for the render of this width.
    func renderWaiters(width: Int = 20) -> Int {
        key(width).map { sharedRenders.waiterCount(for: $0) } ?? 0
    }

    /// Number of renders that wait for the decode that this width needs.
    func decodeWaiters(width: Int = 20) -> Int {
        key(width).map { sharedDecodes.waiterCount(for: $0.decodeKey) } ?? 0
    }

    var sharedRenders: SharedTasks<ResultKey, RenderedImage> { pipeline.estimator.renders }
    var sharedDecodes: SharedTasks<DecodeKey, DecodedImage> { pipeline.renderer.decoder.shared }

    /// Number of shared renders and decodes in progress.
    var sharedWorkCount: Int { sharedRenders.count + sharedDecodes.count }

    /// The key of the result of this width if its source is fresh.
    func key(_ width: Int) -> ResultKey? {
        let request = Request.path(width: width)
        guard let identity = try? downloader.identity(of: request.source),
            let record = caches.freshRecord(for: identity),
            let plan = try? RenderPlan(
                options: request.options, format: .jpeg, source: record.header, limits: ImagingLimits(), light: .linear)
        else { return nil }
        return ResultKey(source: identity, validator: record.validator, plan: plan)
    }

    /// The value of the metric whose line begins with `name`; 0 without such a line.
    func metric(_ name: String) -> Int {
        let line = registry.prometheusText.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Int($0.dropFirst(name.utf8.count + 1)) } ?? 0
    }

    /// The state of a layer below memory; nil if there is no such layer.
    func state(of layer: LayerName) -> LayerState? { caches.belowMemory.first { $0.name == layer }?.health.state }

    var decodes: Int { metric("alula_decodes_total{format=\"jpeg\"}") }
    var renders: Int { metric("alula_renders_total{format=\"jpeg\"}") }
}

extension ObjectsInMemory: ObjectContainer {}

extension OriginRules {
    /// The rules of an origin named `shop`.
    static func shop(base: String = "http://example.com/") throws -> OriginRules {
        let shop = Origin(name: "shop", location: .web(base: try SourceURL(parsing: base)))
        return try #require(DownloadRules(DownloadConfiguration(origins: [shop]))["shop"])
    }
}

extension Duration {
    /// A long timeout, because other processes may use all cores.
    static let queueTimeout = Duration.seconds(40)
}

/// Files that many tests use, created once.
enum SampleFiles {
    static let jpeg = ImageFixture.jpeg.bytes
    static let other = ImageFixture.jpegGrayRamp.bytes
    static let truncated = ImageFixture.jpegTruncated.bytes
    static let text = ImageFixture.text.bytes
    static let tiny = ImageFixture.photo(width: 8, height: 8, format: .png)
    static let animation = ImageFixture.gifAnimated.bytes
}

extension Request {
    /// A request for a file of a local folder, which may differ between machines.
    static let local = Request(source: "local:local", format: .negotiated([:]))

    /// A request for a path of the test host.
    static func path(
        _ path: String = "/a", width: Int? = 20, format: FormatChoice = .negotiated([:])
    ) -> Request {
        var request = Request(source: "http://example.com\(path)", format: format)
        request.options.width = width
        return request
    }
}

extension Thumbnail {
    /// Members of `Cache-Status` in short form.
    var statusTexts: [String] {
        cacheStatus.map {
            "\($0.layer.rawValue) \($0.outcome.rawValue)" + ($0.forwardStatus.map { " \($0)" } ?? "")
                + ($0.timeToLive.map { " ttl=\($0)" } ?? "") + ($0.isCollapsed ? " collapsed" : "")
                + ($0.isStored ? " stored" : "")
        }
    }

    var timingNames: [String] { timings.map(\.name) }
}

extension ImagePipeline {
    func cachedThumbnail(for request: Request) -> Thumbnail? {
        cachedThumbnail(for: resolved(request))
    }

    func thumbnail(
        for request: Request, directives: RequestCacheControl, receipt: String
    ) async throws -> Thumbnail {
        try await thumbnail(for: Job(resolved(request), directives: directives, receipt: receipt))
    }

    func thumbnail(of source: OpenedSource, for request: Request) async throws -> Thumbnail {
        try await thumbnail(for: Job(resolved(request, of: source), receipt: "receipt"))
    }
}
