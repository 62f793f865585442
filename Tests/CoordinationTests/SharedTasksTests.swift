import Coordination
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SharedTasksTests {
    @Test func `callers that arrive during the work share its result`() async throws {
        let tasks = SharedTasks<String, Int>()
        let gate = Gate()
        let runs = Locked(0)
        let first = Task.immediate {
            try await tasks.value(for: "a") {
                runs.withLock { $0 += 1 }
                await gate.pass()
                return 7
            }
        }
        let second = Task.immediate {
            try await tasks.value(for: "a") {
                runs.withLock { $0 += 1 }
                return 8
            }
        }
        #expect(tasks.waiterCount(for: "a") == 2)
        gate.open()
        let answers = [try await first.value, try await second.value]
        #expect(answers.map(\.value) == [7, 7])
        #expect(answers.map(\.participation) == [.started, .joined])
        #expect(runs.withLock { $0 } == 1)
        #expect(tasks.count == 0)
    }

    @Test func `joining waits for work in progress and starts none`() async throws {
        let tasks = SharedTasks<String, Int>()
        #expect(try await tasks.join("a") == nil)
        let gate = Gate()
        let first = Task.immediate {
            try await tasks.value(for: "a") {
                await gate.pass()
                return 7
            }
        }
        let second = Task.immediate { try await tasks.join("a") }
        #expect(tasks.waiterCount(for: "a") == 2)
        // The work continues for the other caller.
        first.cancel()
        gate.open()
        #expect(try await second.value == 7)
        #expect(try await tasks.join("a") == nil)
    }

    @Test func `a failure is shared like a value`() async {
        let tasks = SharedTasks<String, Int>()
        let gate = Gate()
        let results = await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for number in 0..<10 {
                group.addImmediateTask {
                    await Result.of {
                        try await tasks.value(for: "a") {
                            await gate.pass()
                            throw Failure(number: number)
                        }.value
                    }
                }
            }
            #expect(tasks.waiterCount(for: "a") == 10)
            gate.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        let failures = results.map { result in
            if case .failure(let failure as Failure) = result { failure.number } else { -1 }
        }
        #expect(Set(failures).count == 1 && failures.first != -1)
    }

    @Test func `the other callers are unaffected if the first one leaves`() async throws {
        let tasks = SharedTasks<String, Int>()
        let gate = Gate()
        let first = Task {
            try await tasks.value(for: "a") {
                await gate.pass()
                try Task.checkCancellation()
                return 1
            }.value
        }
        await gate.arrivals(1)
        let second = Task.immediate { try await tasks.value(for: "a") { 2 }.value }
        #expect(tasks.waiterCount(for: "a") == 2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == 1)
    }

    @Test func `the last caller that leaves cancels the work, and its successor is unaffected`() async throws {
        let tasks = SharedTasks<String, Int>()
        for _ in 0..<200 {
            let gate = Gate()
            let wasCancelled = Gate()
            let first = Task {
                try await tasks.value(for: "a") {
                    await gate.pass()
                    if Task.isCancelled { await wasCancelled.pass() }
                    return 1
                }.value
            }
            await gate.arrivals(1)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            #expect(tasks.count == 0)
            async let second = tasks.value(for: "a") { 2 }
            gate.open()
            await wasCancelled.arrivals(1)
            wasCancelled.open()
            #expect(try await second.value == 2)
        }
    }

    @Test func `every caller finds the work or its result`() async throws {
        let tasks = SharedTasks<Int, Int>()
        let cache = Locked<[Int: Int]>([:])
        let runs = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<10_000 {
                group.addTask {
                    let key = caller / 100
                    _ = try await tasks.value(for: key, cached: { cache.withLock { $0[key] } }) {
                        runs.withLock { $0 += 1 }
                        cache.withLock { $0[key] = key }
                        return key
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(runs.withLock { $0 } == 100)
    }

    @Test func `a caller canceled before its request starts no work`() async {
        let tasks = SharedTasks<String, Int>()
        let gate = Gate()
        let caller = Task {
            await gate.pass()
            return try await tasks.value(for: "a") { 1 }.value
        }
        caller.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(tasks.count == 0)
    }
}

private struct Failure: Error, Equatable {
    let number: Int
}

extension Result where Success: Sendable, Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
