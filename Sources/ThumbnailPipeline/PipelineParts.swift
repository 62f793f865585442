import Coordination
import Downloading

/// The parts that all tenants' pipelines share, so that a pipeline per tenant is small.
final class PipelineParts: Sendable {
    let resources: WorkResources
    let failedDecodes: FailedDecodes
    let placeholders: PlaceholderRenderer
    let renderer: ThumbnailRenderer
    let fetcher: SourceFetcher
    let estimator: WorkEstimator
    let lookupLocks: LookupLocks
    let admission: MissAdmission

    init(
        configuration: PipelineConfiguration, downloader: ImageDownloader, caches: CacheLayers,
        resources: WorkResources, timekeeper: any Timekeeper
    ) {
        self.resources = resources
        lookupLocks = LookupLocks()
        let lanes = resources.lanes
        let memory = WorkMemory(budget: resources.budget)
        admission = MissAdmission(lanes: lanes, maximumDelay: configuration.maximumQueueDelay)
        let scheduler = WorkScheduler(lanes: lanes, admission: admission)
        failedDecodes = FailedDecodes(timeLimit: configuration.failureMemory, timekeeper: timekeeper)
        fetcher = SourceFetcher(
            downloader: downloader, caches: caches, failedDecodes: failedDecodes,
            timeLimit: configuration.requestTimeout, timekeeper: timekeeper)
        let costs = DecodeCosts(timekeeper: timekeeper)
        let decoder = SourceDecoder(
            configuration: configuration, resources: resources, caches: caches, failedDecodes: failedDecodes,
            costs: costs, timekeeper: timekeeper)
        estimator = WorkEstimator(caches: caches, decodes: decoder.shared, costs: costs)
        renderer = ThumbnailRenderer(
            configuration: configuration, resources: resources, caches: caches, decoder: decoder,
            faceFinder: FaceFinder(
                configuration: configuration, resources: resources, caches: caches, decoder: decoder,
                timekeeper: timekeeper),
            scheduler: scheduler, memory: memory, estimator: estimator, timekeeper: timekeeper)
        placeholders = PlaceholderRenderer(
            configuration: configuration, scheduler: scheduler, memory: memory, codec: resources.codec,
            timekeeper: timekeeper)
    }
}
