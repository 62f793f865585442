import Coordination
import Synchronization
import Testing

struct OnceTests {
    @Test func `a value is made at the first use, and once`() {
        let count = Atomic(0)
        let once = Once { count.add(1, ordering: .relaxed).newValue }
        #expect(once.existing == nil)
        #expect(once.value == 1 && once.value == 1)
        #expect(once.existing == 1 && count.load(ordering: .relaxed) == 1)
    }
}
