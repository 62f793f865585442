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
}
