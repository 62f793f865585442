import Coordination
import TestSupport
import Testing

/// Memory that one tenant leaves to others.
@Suite(.timeLimit(.minutes(1)))
struct TenantMemoryTests {
    private let time = ManualTimekeeper()
    private let living = Locked(0)
    private let evictions = EventCounter()
    /// Counts readings of the memory in use: one before a waiter joins the line, and one after.
    private let questions = EventCounter()
    private let first = Flow.tenant(1)
    private let second = Flow.tenant(2)

    private var budget: MemoryBudget {
        MemoryBudget(limit: 100, timekeeper: time) { [living, questions] in
            questions.increment()
            return living.withLock { $0 }
        } evict: { [evictions] _ in
            evictions.increment()
            return 0
        }
    }

    @Test func `a tenant takes at most three times the rest, for its share`() {
        let double = Flow.tenant(1, weight: 2)
        for free in 1...40 {
            for own in 0...130 {
                #expect(first.mayTake(used: own, free: free) == (own < 3 * free))
                #expect(first.mayTake(used: own, free: free, ratio: 1) == (own < free))
                #expect(double.mayTake(used: own, free: free) == (own < 6 * free))
            }
        }
        #expect(first.mayTake(75, used: 0, free: 99) && !first.mayTake(76, used: 0, free: 99))
        #expect(!first.mayTake(.max, used: 0, free: -100) && first.mayTake(used: 0, free: .max - 1))
    }

    @Test func `work of a tenant leaves room to others, and takes all if they have nothing`() throws {
        let budget = budget
        try budget.reserveNow(100, of: first).release()
        let other = try budget.reserveNow(4, of: second)
        #expect(throws: MemoryBudget.Full.self) { _ = try budget.reserveNow(73, of: first) }
        let large = try budget.reserveNow(72, of: first)
        #expect(throws: MemoryBudget.Full.self) { _ = try budget.reserveNow(1, of: first) }
        // An eviction would not have helped.
        #expect(evictions.count == 0)
        try budget.reserveNow(17, of: second).release()
        withExtendedLifetime((other, large)) {}
    }

    @Test func `sources of a tenant leave room to sources of others, and to its own work`() throws {
        let budget = budget
        #expect(throws: MemoryBudget.Full.self) { _ = try budget.reserveNow(58, for: .arrival, of: first) }
        let sources = try budget.reserveNow(57, for: .arrival, of: first)
        #expect(throws: MemoryBudget.Full.self) { try sources.grow(by: 1) }
        try budget.reserveNow(14, for: .arrival, of: second).release()
        try budget.reserveNow(43, of: first).release()
        withExtendedLifetime(sources) {}
    }

    @Test func `the largest work of a tenant leaves room to sources of others`() throws {
        let budget = budget
        let work = try budget.reserveNow(80, of: first)
        try budget.reserveNow(15, for: .arrival, of: second).release()
        withExtendedLifetime(work) {}
    }

    @Test func `work too large to leave room starts once it fits, if no tenant that holds less waits`() async throws {
        let budget = budget
        let other = try budget.reserveNow(4, of: second)
        #expect(throws: MemoryBudget.Full.self) { _ = try budget.reserveNow(96, of: first) }
        let large = try await budget.reserve(96, of: first)
        let count = questions.count
        let waiting = Task { try await budget.reserve(20, of: second) }
        await questions.reached(count + 2)
        large.release()
        #expect(try await waiting.value.bytes == 20)
        withExtendedLifetime(other) {}
    }

    @Test func `sources of two tenants that fill their share leave a quarter to work of any`() async throws {
        let budget = budget
        let one = try budget.reserveNow(38, for: .arrival, of: first)
        let other = try budget.reserveNow(27, for: .arrival, of: second)
        living.withLock { $0 = 65 }
        one.convertToBody(byteCount: 38)
        other.convertToBody(byteCount: 27)
        #expect(try await budget.reserve(35, of: first).bytes == 35)
        withExtendedLifetime((one, other)) {}
    }

    @Test func `a body belongs to its tenant while it is in use`() throws {
        let budget = budget
        let body = try budget.reserveNow(57, for: .arrival, of: first)
        living.withLock { $0 = 50 }
        body.convertToBody(byteCount: 50)
        #expect(budget.statistics.reserved == 0)
        #expect(throws: MemoryBudget.Full.self) { _ = try budget.reserveNow(8, for: .arrival, of: first) }
        try budget.reserveNow(12, for: .arrival, of: second).release()
        // A cache keeps the body, which no eviction frees: it then counts for the budget, but not for its tenant.
        body.release()
        #expect(throws: MemoryBudget.Full.self) { _ = try budget.reserveNow(20, for: .arrival, of: first) }
        #expect(evictions.count == 2)
        try budget.reserveNow(19, for: .arrival, of: first).release()
    }

    @Test func `a tenant that waits for its own memory keeps no other waiting`() async throws {
        let budget = budget
        let other = try budget.reserveNow(1, of: second)
        let held = try budget.reserveNow(70, of: first)
        let count = questions.count
        let waiting = Task { try await budget.reserve(40, of: first) }
        await questions.reached(count + 2)
        #expect(try await budget.reserve(10, of: second).bytes == 10)
        #expect(budget.statistics.waiting == 1 && evictions.count == 0)
        held.release()
        #expect(try await waiting.value.bytes == 40)
        withExtendedLifetime(other) {}
    }

    @Test func `while another that holds less waits, a tenant works on one image at a time`() async throws {
        let budget = budget
        let body = try budget.reserveNow(40, for: .arrival, of: first)
        living.withLock { $0 = 40 }
        body.convertToBody(byteCount: 40)
        let count = questions.count
        let large = Task { try await budget.reserve(70, of: second) }
        await questions.reached(count + 2)
        let work = try budget.reserveNow(10, of: first)
        #expect(throws: MemoryBudget.Full.self) { _ = try budget.reserveNow(1, of: first) }
        #expect(throws: MemoryBudget.Full.self) { _ = try budget.reserveNow(1, for: .arrival, of: first) }
        living.withLock { $0 = 0 }
        body.release()
        #expect(try await large.value.bytes == 70)
        withExtendedLifetime(work) {}
    }
}
