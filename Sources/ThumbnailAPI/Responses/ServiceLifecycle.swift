import Coordination
import Dialects
import Synchronization
import ThumbnailPipeline
import ThumbnailTypes

/// Set by the signal handling, read on the event threads of both listeners.
package final class ServiceLifecycle: Sendable {
    private let isReadyFlag = Atomic(true)
    private let isDrainingFlag = Atomic(false)
    private let isCuttingFlag = Atomic(false)
    package let startedAt: Duration

    package init(startedAt: Duration) { self.startedAt = startedAt }

    package var isReady: Bool { isReadyFlag.load(ordering: .relaxed) }

    package var isDraining: Bool { isDrainingFlag.load(ordering: .relaxed) }

    /// Whether pending requests are being cut off because the service ends.
    package var isCutting: Bool { isCuttingFlag.load(ordering: .relaxed) }

    /// Requests are still served, so that load balancers can notice in time.
    package func failReadiness() { isReadyFlag.store(false, ordering: .relaxed) }

    package func beginDraining() {
        failReadiness()
        isDrainingFlag.store(true, ordering: .relaxed)
    }

    /// Marks further cancellations as caused by the end of the service, not by clients that disconnect.
    package func beginCutting() {
        beginDraining()
        isCuttingFlag.store(true, ordering: .relaxed)
    }

    var abandonment: APIError { isCutting ? .draining : .clientGone }

    /// The error of the current task; nil if neither its client disconnected nor the service ends.
    var cancellation: APIError? {
        if Task.isCancelled { return abandonment }
        // When the service ends, shared work ends although requests wait for it.
        return isDraining ? .draining : nil
    }
}

extension ServiceLifecycle {
    /// Called in the request's own task; after cancellation, errors are only its consequences.
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
