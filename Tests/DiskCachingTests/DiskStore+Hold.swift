import TestSupport

@testable import DiskCaching

extension DiskStore {
    /// A hold on the store's thread: a disk that does not answer.
    func hold() async -> ThreadHold {
        await ThreadHold.take { occupy in await self.withDatabase { _ in occupy() } }
    }
}
