import CLinux
import Glibc

/// A thread of the system that runs one function to its end: for work that computes or blocks.
///
/// Each thread is either joined or detached, once.
package struct WorkThread: Sendable {
    /// The system refused the thread.
    package struct StartFailure: Error, CustomStringConvertible {
        /// The system's error number.
        package let systemError: CInt

        /// A line for operators.
        package var description: String { "the system grants no further thread (error \(systemError))" }
    }

    /// The arguments of a new thread.
    private final class Start: Sendable {
        let name: String?
        let body: @Sendable () -> Void

        init(name: String?, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            if let name { unsafe CLinux_set_thread_name(name) }
            body()
        }
    }

    private let thread: pthread_t

    /// Starts a thread that runs `body`.
    ///
    /// - Parameters:
    ///   - name: The thread's name, up to 15 bytes; nil keeps that of the thread that starts it.
    ///   - body: The function that the thread runs. The thread holds it until it ends.
    package init(named name: String?, _ body: @escaping @Sendable () -> Void) throws(StartFailure) {
        var thread = pthread_t()
        // Balanced by `takeRetainedValue` on the new thread.
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        let status = unsafe pthread_create(&thread, nil, Self.entry, start.toOpaque())
        guard status == 0 else {
            unsafe start.release()
            throw StartFailure(systemError: status)
        }
        self.thread = thread
    }

    /// The value of `work`, which may block, from a thread of its own; nil if the system refuses one.
    package static func value<Value: Sendable>(
        named name: String, of work: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let thread = try? WorkThread(named: name) { continuation.resume(returning: work()) }
            guard let thread else { return continuation.resume(returning: nil) }
            thread.detach()
        }
    }

    /// Waits until the thread has ended.
    package func blockingJoin() {
        pthread_join(thread, nil)
    }

    /// Lets the thread end on its own: no other thread will wait for it.
    package func detach() {
        pthread_detach(thread)
    }

    private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
