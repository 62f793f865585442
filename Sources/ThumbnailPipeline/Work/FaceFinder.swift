import Coordination
import Imaging
import Recipes
import ThumbnailTypes

/// Finds the faces of each source once, and stores them in its record.
struct FaceFinder: Sendable {
    let configuration: PipelineConfiguration
    let resources: WorkResources
    let caches: CacheLayers
    let decoder: SourceDecoder
    let timekeeper: any Timekeeper
    let searches = SharedTasks<SourceVersion, [Face]>()

    /// Returns the faces, largest first; detects them in pixels that most results also need.
    ///
    /// - Throws: ``PipelineError/missingBytes`` if neither pixels nor bytes are available.
    func faces(of source: AvailableSource, in context: WorkContext) async throws -> [Face] {
        guard let detector = resources.faceDetector else { return [] }
        let record = source.record
        while true {
            do {
                return try await searches.value(for: record.version, cached: { caches.faces(of: record) }) {
                    try await detect(with: detector, in: source, context: context)
                }.value
            } catch PipelineError.missingBytes where source.file != nil {
                // Another request's search, without the file, has failed.
                try Task.checkCancellation()
            }
        }
    }

    private func detect(
        with detector: FaceDetector, in source: AvailableSource, context: WorkContext
    ) async throws -> [Face] {
        let key = try key(of: source.record)
        let image = try await decoder.image(for: key, from: source, in: context, reservation: nil).value
        let clock = WorkClock(at: timekeeper.now)
        defer { context.bill?.charge(processor: clock.processorTime.whole) }
        let faces = try await resources.lanes.small.run(
            timeLimit: configuration.decodeTimeout, queueTimeout: context.permit.queueTimeout
        ) { [codec = resources.codec, timekeeper] token in
            try clock.perform(token, at: timekeeper.now) {
                try codec.faces(detector.search(image, token: token), token: token)
            }
        }
        resources.metrics.recordFaceSearch()
        caches.remember(faces, of: source.record)
        return faces
    }

    /// A plan that decodes the pixels of the result and of face detection together.
    ///
    /// Returns nil if both use the same pixels, or if the format cannot decode two levels in one pass.
    func planTogether(with task: RenderTask) -> DecodePlan? {
        let record = task.sources.main.record
        let plan = task.key.plan
        guard plan.needsFaces, resources.faceDetector != nil, caches.faces(of: record) == nil,
            let faceKey = try? key(of: record), !caches.hasPixels(faceKey), !task.imagesInUse.contains(faceKey)
        else { return nil }
        return DecodePlan(combining: [plan.decode, faceKey.plan], of: record.header)
    }

    func key(of record: SourceRecord) throws(ImagingError) -> DecodeKey {
        DecodeKey(
            source: record.identity, validator: record.validator,
            plan: try DecodePlan(forFacesIn: record.header, limits: configuration.rules.limits))
    }
}
