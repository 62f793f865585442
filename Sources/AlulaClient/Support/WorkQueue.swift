import Foundation

/// Runs work that blocks or computes, outside of Swift's cooperative threads and the main thread.
package struct WorkQueue: Sendable {
    private let queue = OperationQueue()

    /// Creates a queue.
    ///
    /// - Parameter width: The maximum number of threads.
    package init(width: Int) { queue.maxConcurrentOperationCount = width }

    /// Returns the result of some work, which starts in order of the calls.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.addOperation { continuation.resume(returning: work()) }
        }
    }

    /// Starts some work without waiting for it.
    package func start(_ work: @escaping @Sendable () -> Void) { queue.addOperation(work) }
}
