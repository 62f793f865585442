import Coordination
import TestSupport

@testable import DiskCaching

extension DiskStore {
    /// A hold on the store's thread: a disk that does not answer.
    func hold() async -> ThreadHold {
        await ThreadHold.take { occupy in
            _ = self.thread.submit { _ in occupy() }
        }
    }

    /// Pieces of work that wait for the thread.
    var pendingCount: Int { thread.queuedCount }

    /// Waits until all work requested so far is done.
    func settled() async { await withDatabase { _ in } }

    /// Runs `body` on the store's thread with its open file, if there is one.
    func withDatabase(_ body: @escaping @Sendable (DiskDatabase) throws -> Void) async {
        let answer = Promise<Void>()
        let isQueued = thread.submit { [worker] _ in
            _ = worker.perform { database throws(SQLiteError) in try? body(database) }
            answer.fulfill(())
        }
        if isQueued { await answer.value() }
    }
}
