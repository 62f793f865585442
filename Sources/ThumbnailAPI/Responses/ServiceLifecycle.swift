import Coordination
import Dialects
import Synchronization
import ThumbnailPipeline
import ThumbnailTypes

/// The phase of the service, set by the signal handling and read on the event threads of both listeners.
package final class ServiceLifecycle: Sendable {
    private let isReadyFlag = Atomic(true)
    private let isDrainingFlag = Atomic(false)
    private let isCuttingFlag = Atomic(false)
    package let startedAt: Duration

    package init(startedAt: Duration) { self.startedAt = startedAt }

    package var isReady: Bool { isReadyFlag.load(ordering: .relaxed) }

    package var isDraining: Bool { isDrainingFlag.load(ordering: .relaxed) }

    /// Whether pending requests are being canceled because the service shuts down.
    package var isCutting: Bool { isCuttingFlag.load(ordering: .relaxed) }

    /// Makes readiness checks fail while requests are still served, so that load balancers notice in time.
    package func failReadiness() { isReadyFlag.store(false, ordering: .relaxed) }

    package func beginDraining() {
        failReadiness()
        isDrainingFlag.store(true, ordering: .relaxed)
    }

    /// Attributes further cancellations to the shutdown, not to clients that disconnect.
    package func beginCutting() {
        beginDraining()
        isCuttingFlag.store(true, ordering: .relaxed)
    }

    var abandonment: APIError { isCutting ? .draining : .clientGone }

    /// The error of the current task if its client disconnected or the service shuts down.
    var cancellation: APIError? {
        if Task.isCancelled { return abandonment }
        // A shutdown cancels shared work even if requests wait for it.
        return isDraining ? .draining : nil
    }
}

extension ServiceLifecycle {
    /// Returns the cancellation as the cause of `error`, if there is one; called in the request's own task.
    func failure(behind error: any Error) -> any ServiceError {
        switch error {
        case let error as any ServiceError where !Task.isCancelled: error
        case is DeadlineExceeded where !Task.isCancelled: APIError.deadlineExceeded
        case is any ServiceError, is DeadlineExceeded, is CancellationError:
            cancellation ?? APIError.unexpected("canceled, although the client waits and the service runs")
        default: APIError.unexpected("\(type(of: error)): \(error)")
        }
    }
}
