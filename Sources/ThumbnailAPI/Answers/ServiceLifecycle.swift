import Coordination
import Dialects
import Synchronization
import ThumbnailPipeline
import ThumbnailTypes

/// The state of the process's shutdown: ready, not ready, draining, cutting.
///
/// Set by the signal handling, read on the event threads of both listeners.
package final class ServiceLifecycle: Sendable {
    private let isReadyFlag = Atomic(true)
    private let isDrainingFlag = Atomic(false)
    private let isCuttingFlag = Atomic(false)

    /// The monotonic time of the service's start.
    package let startedAt: Duration

    package init(startedAt: Duration) { self.startedAt = startedAt }

    /// Whether load balancers should send requests here.
    package var isReady: Bool { isReadyFlag.load(ordering: .relaxed) }

    package var isDraining: Bool { isDrainingFlag.load(ordering: .relaxed) }

    /// Whether pending requests are being cut off because the service ends.
    package var isCutting: Bool { isCuttingFlag.load(ordering: .relaxed) }

    /// Fails the readiness check while all requests are still served, so that load balancers can notice in time.
    package func failReadiness() {
        isReadyFlag.store(false, ordering: .relaxed)
    }

    /// Rejects new thumbnail requests from now on; also fails the readiness check.
    package func beginDraining() {
        failReadiness()
        isDrainingFlag.store(true, ordering: .relaxed)
    }

    /// Cuts off pending requests from now on, so that cancellation no longer means that the client disconnected.
    package func beginCutting() {
        beginDraining()
        isCuttingFlag.store(true, ordering: .relaxed)
    }

    /// Why a request ended while it waited for its response.
    var abandonment: APIError { isCutting ? .draining : .clientGone }

    /// Why the current task's request was canceled; nil if neither its client disconnected nor the service ends.
    var cancellation: APIError? {
        if Task.isCancelled { return abandonment }
        // When the service ends, shared work ends although requests wait for it.
        return isDraining ? .draining : nil
    }
}

extension ServiceLifecycle {
    /// Returns the failure of a request, in the request's own task.
    ///
    /// After cancellation, errors are only its consequences.
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
