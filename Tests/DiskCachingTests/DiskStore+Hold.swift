import Coordination
import TestSupport

@testable import DiskCaching

extension DiskStore {
    /// Blocks the store's thread, like a disk that does not respond.
    func hold() async -> ThreadHold {
        await ThreadHold.take { occupy in
            _ = self.thread.submit { _ in occupy() }
        }
    }

    /// Number of operations that wait for the thread.
    var pendingCount: Int { thread.queuedCount }

    /// Waits until all operations requested so far are done.
    func settled() async { await withDatabase { _ in } }

    /// Runs `body` on the store's thread if the file is open.
    func withDatabase(_ body: @escaping @Sendable (DiskDatabase) throws -> Void) async {
        let answer = Promise<Void>()
        let isQueued = thread.submit { [worker] _ in
            _ = worker.perform { database throws(SQLiteError) in try? body(database) }
            answer.fulfill(())
        }
        if isQueued { await answer.value() }
    }
}
