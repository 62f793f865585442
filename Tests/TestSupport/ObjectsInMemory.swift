import Coordination
package import Memory

/// A folder or bucket in memory whose objects a test can change, and whose operations a test can hold or make fail.
package final class ObjectsInMemory: Sendable {
    package struct Failure: Error {
        /// Whether the store is full.
        package var isFull = false
    }

    private struct State {
        var objects: [String: [UInt8]] = [:]
        var names: [String] = []
        var failsReads = false
        var failsWrites = false
        var failsListings = false
        var isFull = false
        var readGate: Gate?
        var writeGate: Gate?
    }

    private let state = Locked(State())

    package init() {}

    /// Objects by name.
    package var objects: [String: [UInt8]] {
        get { state.withLock { $0.objects } }
        set { state.withLock { $0.objects = newValue } }
    }

    /// Requested names, in order.
    package var asked: [String] { state.withLock { $0.names } }

    package var valueCount: Int { objects.keys.count { $0.hasPrefix("alula-1/v/") } }

    /// Sets which operations fail from now on; with `isFull`, writes fail because the store is full.
    package func fail(reads: Bool = false, writes: Bool = false, listings: Bool = false, isFull: Bool = false) {
        state.withLock { state in
            (state.failsReads, state.failsWrites, state.failsListings) = (reads, writes || isFull, listings)
            state.isFull = isFull
        }
    }

    /// Sets the gates at which lookups and writes wait.
    package func hold(reads: Gate? = nil, writes: Gate? = nil) {
        state.withLock { ($0.readGate, $0.writeGate) = (reads, writes) }
    }

    /// Changes all stored values.
    package func rewriteValues(_ change: ([UInt8]) -> [UInt8]) {
        state.withLock { state in
            for name in state.objects.keys where name.hasPrefix("alula-1/v/") {
                state.objects[name] = state.objects[name].map(change)
            }
        }
    }

    package func prepare() async throws {}

    package func object(named name: String, atMost maximumBytes: Int) async throws -> SharedBytes? {
        let gate = state.withLock { state in
            state.names.append(name)
            return state.readGate
        }
        await gate?.pass()
        let (found, fails) = state.withLock { ($0.objects[name], $0.failsReads) }
        if fails || found?.count ?? 0 > maximumBytes { throw Failure() }
        return found.map { SharedBytes($0) }
    }

    package func names(in folder: String, atMost most: Int) async throws -> [String] {
        let (names, fails) = state.withLock { (Array($0.objects.keys), $0.failsReads || $0.failsListings) }
        let found = names.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.utf8.count + 1)) }
        if fails { throw Failure() }
        return Array(found.prefix(most))
    }

    package func store(_ bytes: SharedBytes, named name: String, isDurable: Bool) async throws {
        await state.withLock { $0.writeGate }?.pass()
        if state.withLock({ $0.failsWrites }) { throw Failure(isFull: state.withLock { $0.isFull }) }
        let bytes = bytes.array
        state.withLock { $0.objects[name] = bytes }
    }
}
