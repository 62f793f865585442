import CLinux
import Glibc

/// A thread for work that computes or blocks; each thread must be joined or detached exactly once.
package struct WorkThread: Sendable {
    package struct StartFailure: Error, CustomStringConvertible {
        /// An `errno` value.
        package let systemError: CInt

        package var description: String { "the system grants no further thread (error \(systemError))" }
    }

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

    /// - Parameters:
    ///   - name: Up to 15 bytes; nil inherits the name of the starting thread.
    ///   - body: Retained until the thread ends.
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

    /// Runs `work`, which may block, on a new thread; returns nil if the system cannot create one.
    package static func value<Value: Sendable>(
        named name: String, of work: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let thread = try? WorkThread(named: name) { continuation.resume(returning: work()) }
            guard let thread else { return continuation.resume(returning: nil) }
            thread.detach()
        }
    }

    package func blockingJoin() { pthread_join(thread, nil) }

    package func detach() { pthread_detach(thread) }

    private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}

package struct ThreadIdentity: Equatable, Sendable {
    private let thread: UInt

    package static var current: ThreadIdentity { ThreadIdentity(thread: UInt(pthread_self())) }
}
