import Coordination
import Dialects
import HTTPTypes
import JSON
import Synchronization
import ThumbnailPipeline
import ThumbnailTypes

/// How far the shutdown of the process has come: ready, not ready, draining, cutting.
///
/// Set by the signal handling, read on the event threads of both listeners.
package final class ServiceLifecycle: Sendable {
    private let isReadyFlag = Atomic(true)
    private let isDrainingFlag = Atomic(false)
    private let isCuttingFlag = Atomic(false)

    /// The monotonic time at which the service started.
    package let startedAt: Duration

    /// A service that has been ready since `startedAt`.
    package init(startedAt: Duration) {
        self.startedAt = startedAt
    }

    /// Whether load balancers should send requests here.
    package var isReady: Bool { isReadyFlag.load(ordering: .relaxed) }

    /// Whether new thumbnails are refused.
    package var isDraining: Bool { isDrainingFlag.load(ordering: .relaxed) }

    /// Whether requests under way are being cut because the service ends.
    package var isCutting: Bool { isCuttingFlag.load(ordering: .relaxed) }

    /// Makes the readiness check fail while all requests are still served, so that load balancers can notice in time.
    package func failReadiness() {
        isReadyFlag.store(false, ordering: .relaxed)
    }

    /// Refuses new thumbnails from now on; the readiness check fails too.
    package func beginDraining() {
        failReadiness()
        isDrainingFlag.store(true, ordering: .relaxed)
    }

    /// Cuts requests under way from now on, so a request that is cancelled no longer means that its client has left.
    package func beginCutting() {
        beginDraining()
        isCuttingFlag.store(true, ordering: .relaxed)
    }

    /// Why a request has ended that was waiting for its answer.
    var abandonment: APIError { isCutting ? .draining : .clientGone }

    /// Why the request of the current task was cancelled; nil if neither its client left nor the service ends.
    var cancellation: APIError? {
        if Task.isCancelled { return abandonment }
        // When the service ends, shared work ends although requests wait for it.
        return isDraining ? .draining : nil
    }
}

/// Answers health checks, in the same way on both listeners.
enum HealthAnswer {
    /// The answer that shows that the process runs.
    static func live(common: HTTPFields) -> HTTPResponse { ok("live", common: common) }

    /// The answer that tells whether load balancers should send requests here: 503 once the shutdown has begun.
    static func ready(_ lifecycle: ServiceLifecycle, requestID: String, common: HTTPFields) -> HTTPResponse {
        lifecycle.isReady
            ? ok("ready", common: common)
            : Problem(APIError.draining, requestID: requestID, common: common).response
    }

    private static func ok(_ status: String, common: HTTPFields) -> HTTPResponse {
        .uncached(
            JSONValue.object([("status", .string(status))]).text, mediaType: "application/json", common: common)
    }
}

extension ServiceLifecycle {
    /// The failure that a request ends with, in the request's own task.
    ///
    /// After the cancellation of a request, its errors are only the cancellation's consequences.
    func failure(behind error: any Error) -> any ServiceError {
        switch error {
        case let error as any ServiceError where !Task.isCancelled: error
        case is DeadlineExceeded where !Task.isCancelled: APIError.deadlineExceeded
        case is any ServiceError, is DeadlineExceeded, is CancellationError:
            cancellation ?? APIError.unexpected("cancelled, although the client waits and the service runs")
        default: APIError.unexpected("\(type(of: error)): \(error)")
        }
    }
}
