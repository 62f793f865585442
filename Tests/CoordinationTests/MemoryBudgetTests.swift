import Coordination
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MemoryBudgetTests {
    private let time = ManualTimekeeper()
    /// Counts evictions of everything; a waiter requests one after joining the line.
    private let lastEvictions = EventCounter()

    @Test func `a reservation is exclusive and is released with its holder`() async throws {
        let budget = MemoryBudget(limit: 100, timekeeper: time)
        let first = try await budget.reserve(60)
        #expect(throws: MemoryBudget.Full.self) { _ = try budget.reserveNow(41) }
        var second: MemoryReservation? = try await budget.reserve(40)
        #expect(budget.statistics.reserved == 100 && second?.bytes == 40)
        first.release()
        first.release()
        #expect(budget.statistics.reserved == 40)
        second = nil
        #expect(budget.statistics.reserved == 0)
    }

    @Test func `a reservation that can never fit is rejected at once`() async throws {
        let budget = MemoryBudget(limit: 100, timekeeper: time)
        await #expect(throws: MemoryBudget.NeverFits.self) { _ = try await budget.reserve(101) }
        await #expect(throws: MemoryBudget.NeverFits.self) { _ = try await budget.reserve(.max) }
        await #expect(throws: MemoryBudget.NeverFits.self) { _ = try await budget.reserve(76, for: .arrival) }
        #expect(budget.statistics.rejections == 0)
    }

    @Test func `waiters are admitted when there is memory, in order of arrival`() async throws {
        let budget = MemoryBudget(limit: 100, timekeeper: time, evict: noteEviction)
        let held = try await budget.reserve(100)
        let order = Locked<[Int]>([])
        let gate = Gate()
        var tasks: [Task<Void, any Error>] = []
        for (number, bytes) in [(1, 60), (2, 50), (3, 10)] {
            tasks.append(
                Task {
                    let room = try await budget.reserve(bytes)
                    order.withLock { $0.append(number) }
                    await gate.pass()
                    room.release()
                })
            await lastEvictions.reached(number)
            #expect(budget.statistics.waiting == number)
        }
        held.release()
        // The third reservation would fit next to the first, but the second was queued before it.
        await gate.arrivals(1)
        #expect(order.withLock { $0 } == [1])
        #expect(budget.statistics.waiting == 2)
        gate.open()
        for task in tasks { try await task.value }
        #expect(order.withLock { $0 }.sorted() == [1, 2, 3] && budget.statistics.reserved == 0)
    }

    @Test func `work precedes arrivals, which leave a quarter free`() async throws {
        let budget = MemoryBudget(limit: 100, timekeeper: time, evict: noteEviction)
        let held = try await budget.reserve(75, for: .arrival)
        let arrival = Task { try await budget.reserve(1, for: .arrival) }
        await lastEvictions.reached(1)
        #expect(budget.statistics.waiting == 1)
        // This reservation comes later and does not wait for reservations that cannot use its memory.
        let work = try await budget.reserve(25)
        work.release()
        held.release()
        #expect(try await arrival.value.bytes == 1)
    }

    @Test func `a wait ends with a rejection, and then holds nothing`() async throws {
        let budget = MemoryBudget(limit: 100, maximumWait: .seconds(5), timekeeper: time, evict: noteEviction)
        let held = try await budget.reserve(100)
        let late = Task { try await budget.reserve(1) }
        await lastEvictions.reached(1)
        await time.sleepers(1)
        #expect(budget.statistics.waiting == 1)
        time.advance(by: .seconds(5))
        await #expect(throws: MemoryBudget.Full.self) { _ = try await late.value }
        #expect(budget.statistics.waiting == 0)
        #expect(budget.statistics.rejections == 1)
        held.release()
        #expect(budget.statistics.reserved == 0)
    }

    @Test func `a waiter that leaves the queue leaves no trace, and the queue is bounded`() async throws {
        let budget = MemoryBudget(limit: 100, maximumWaiting: 1, timekeeper: time, evict: noteEviction)
        let held = try await budget.reserve(100)
        let leaver = Task { try await budget.reserve(1) }
        await lastEvictions.reached(1)
        #expect(budget.statistics.waiting == 1)
        await #expect(throws: MemoryBudget.Full.self) { _ = try await budget.reserve(1) }
        leaver.cancel()
        await #expect(throws: CancellationError.self) { _ = try await leaver.value }
        #expect(budget.statistics.waiting == 0)
        held.release()
        #expect(budget.statistics.reserved == 0)
    }

    @Test func `the caches evict in two steps before any wait, no further than needed`() async throws {
        let cache = Locked(90)
        let steps = Locked<[MemoryBudget.Eviction]>([])
        let budget = MemoryBudget(
            limit: 100, timekeeper: time, allocated: { cache.withLock { $0 } },
            evict: { step in
                steps.withLock { $0.append(step) }
                return cache.withLock { cache in
                    let left = step == .preferred ? min(cache, 60) : 0
                    defer { cache = left }
                    return cache - left
                }
            })
        let small = try await budget.reserve(40)
        #expect(steps.withLock { $0 } == [.preferred])
        let large = try await budget.reserve(60)
        #expect(steps.withLock { $0 } == [.preferred, .preferred, .empty])
        #expect(budget.statistics.evictions == [.preferred: 1, .empty: 1])
        withExtendedLifetime((small, large)) {}
    }

    @Test func `living memory counts, and memory freed silently is noticed at the next review`() async throws {
        let living = Locked(100)
        let budget = MemoryBudget(
            limit: 100, timekeeper: time, allocated: { living.withLock { $0 } }, evict: noteEviction)
        let waiter = Task { try await budget.reserve(10) }
        await lastEvictions.reached(1)
        #expect(budget.statistics.waiting == 1)
        living.withLock { $0 = 90 }
        budget.admitWaiters()
        #expect(try await waiter.value.bytes == 10)
    }

    @Test func `a reservation grows while there is memory, and can be split`() async throws {
        let budget = MemoryBudget(limit: 100, timekeeper: time)
        let room = try await budget.reserve(10, for: .arrival)
        try room.grow(by: 65)
        #expect(throws: MemoryBudget.Full.self) { try room.grow(by: 1) }
        #expect(room.bytes == 75)
        let part = room.split(50)
        room.release()
        #expect(budget.statistics.reserved == 50)
        part.release()
        #expect(budget.statistics.reserved == 0)
    }

    @Test func `the limit is never exceeded, in any order of arrivals and ends`() async throws {
        let budget = MemoryBudget(limit: 100, maximumWaiting: 10_000)
        let held = Locked((now: 0, most: 0))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let task = Task {
                        let room = try await budget.reserve(
                            1 + number * 7 % 60, for: number % 3 == 0 ? .arrival : .work)
                        held.withLock { held in
                            held.now += room.bytes
                            held.most = max(held.most, held.now)
                        }
                        await Task.yield()
                        held.withLock { $0.now -= room.bytes }
                        room.release()
                    }
                    if number % 5 == 0 { task.cancel() }
                    _ = await task.result
                }
            }
        }
        #expect(held.withLock { $0.most } <= 100)
        #expect(budget.statistics.reserved == 0 && budget.statistics.waiting == 0)
    }

    private var noteEviction: MemoryBudget.Evicting {
        { [lastEvictions] step in
            if step == .empty { lastEvictions.increment() }
            return 0
        }
    }
}
