import Coordination
import Testing

struct ThreadIdentityTests {
    @Test func `a thread distinguishes itself from another`() throws {
        let here = ThreadIdentity.current
        let other = Locked<ThreadIdentity?>(nil)
        let thread = try WorkThread(named: "other") { other.withLock { $0 = .current } }
        thread.blockingJoin()
        #expect(here == .current)
        #expect(other.withLock { $0 } != nil && other.withLock { $0 } != here)
    }
}
