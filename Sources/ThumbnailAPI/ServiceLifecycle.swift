import Synchronization

/// How far the process is on its way out; shared by both listeners and the signal handling.
///
/// Set from the signal handling, read on the event threads.
package final class ServiceLifecycle: Sendable {
    private let isReadyFlag = Atomic(true)
    private let isDrainingFlag = Atomic(false)

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

    /// Makes the readiness check fail while everything is still served, for as long as load balancers need to notice.
    package func failReadiness() {
        isReadyFlag.store(false, ordering: .relaxed)
    }

    /// Refuses new thumbnails from now on; the readiness check fails too.
    package func beginDraining() {
        failReadiness()
        isDrainingFlag.store(true, ordering: .relaxed)
    }
}
