import Synchronization

/// How far the process is on its way out; shared by both listeners and the signal handling.
///
/// Set from the signal handling, read on the event threads.
package final class ServiceLifecycle: Sendable {
    private let isReadyFlag = Atomic(true)
    private let isDrainingFlag = Atomic(false)
    private let isCuttingFlag = Atomic(false)

    /// The monotonic time at which the service started.
    package let startedAt: Duration

    /// A service that is ready since `startedAt`.
    package init(startedAt: Duration) {
        self.startedAt = startedAt
    }

    /// Whether load balancers should send requests here.
    package var isReady: Bool { isReadyFlag.load(ordering: .relaxed) }

    /// Whether new thumbnails are refused.
    package var isDraining: Bool { isDrainingFlag.load(ordering: .relaxed) }

    /// Whether requests in hand are being cut because the service ends.
    package var isCutting: Bool { isCuttingFlag.load(ordering: .relaxed) }

    /// Makes the readiness check fail while everything is still served, for as long as load balancers need to notice.
    package func failReadiness() {
        isReadyFlag.store(false, ordering: .relaxed)
    }

    /// Refuses new thumbnails from now on; the readiness check fails too.
    package func beginDraining() {
        failReadiness()
        isDrainingFlag.store(true, ordering: .relaxed)
    }

    /// Requests in hand are cut from now on; whose request is cancelled then has not left.
    package func beginCutting() {
        beginDraining()
        isCuttingFlag.store(true, ordering: .relaxed)
    }

    /// What became of a request that was cancelled, on the task that works on it; nil where nobody has cancelled anything.
    var cancellation: APIError? {
        if Task.isCancelled { return isCutting ? .draining : .clientGone }
        // Shared work ends under its waiters when the service does.
        return isDraining ? .draining : nil
    }
}
