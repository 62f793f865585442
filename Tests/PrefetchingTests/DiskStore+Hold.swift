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
}
