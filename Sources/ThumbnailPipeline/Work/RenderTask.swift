import Coordination
import Memory
import Recipes

/// A result to render, its sources, and the job that requests it first.
struct RenderTask: Sendable {
    let key: ResultKey
    let sources: PerSource<AvailableSource>
    let job: Job
    /// Receives decoded images, even if they do not fit in the cache.
    let imagesInUse: ImagesInUse

    init(
        _ key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job, imagesInUse: ImagesInUse? = nil
    ) {
        self.key = key
        self.sources = sources
        self.job = job
        self.imagesInUse = imagesInUse ?? job.opened?.imagesInUse ?? ImagesInUse()
    }

    var hasFiles: Bool { sources.allSatisfy { $0.file != nil } }

    func context(under permit: WorkPermit) -> WorkContext {
        WorkContext(permit: permit, imagesInUse: imagesInUse, bill: job.bill)
    }

    /// Runs `body` for each source concurrently, and adds the source's role to its errors.
    func mapDecodes<Value: Sendable>(
        _ body: @escaping @Sendable (_ index: Int, _ key: DecodeKey) async throws -> Value
    ) async throws -> PerSource<Value> {
        let roles = job.request.roles
        return try await key.decodeKeys.concurrentMap { index, key in
            try await AdditionalSourceError.attributing(to: roles[index]) { try await body(index, key) }
        }
    }
}

/// The permit of a render, the images that it uses, and its bill.
struct WorkContext: Sendable {
    let permit: WorkPermit
    let imagesInUse: ImagesInUse
    /// Receives the cost of the work; nil for the operator's work.
    let bill: RequestBill?
}
