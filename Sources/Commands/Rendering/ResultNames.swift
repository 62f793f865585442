import Coordination
import Text

/// Names results by their patterns, with a number if an earlier result has the same name.
///
/// Names depend only on the order of the results, not on which one finishes first: a name is assigned when the values
/// of all earlier results with the same pattern are known. A numbered name never equals the name of another result.
struct ResultNames {
    private let patterns: [ResultPattern]
    private let indexesByPattern: [ResultPattern: [Int]]
    private var decidedCounts: [ResultPattern: Int] = [:]
    /// The values of results that wait for earlier ones; nil for results without a name.
    private var waiting: [Int: ResultPattern.Values?] = [:]
    private var skippedIndexes: Set<Int> = []
    private var takenNames: Set<ExactText>
    private var nextNumbers: [ExactText: Int] = [:]
    private(set) var names: [Int: String]

    /// Creates names for results with these patterns, in order; `names` are those from an earlier run.
    init(_ patterns: [ResultPattern], named names: [Int: String] = [:]) {
        self.patterns = patterns
        indexesByPattern = Dictionary(grouping: patterns.indices, by: { patterns[$0] })
        self.names = names
        takenNames = Set(names.values.map { ExactText($0) })
        for index in names.keys { waiting[index] = .some(nil) }
    }

    /// Sets the values of a result's pattern, or nil if it has no result; returns the names that this assigns.
    ///
    /// A result that had no values and later gets some receives a name that is free then.
    mutating func settle(_ index: Int, values: ResultPattern.Values?) -> [(index: Int, name: String)] {
        let pattern = patterns[index]
        guard names[index] == nil, waiting[index] == nil, let group = indexesByPattern[pattern] else { return [] }
        if skippedIndexes.contains(index) {
            guard let values else { return [] }
            return [(index, assign(index, values: values))]
        }
        waiting[index] = .some(values)
        var newNames: [(index: Int, name: String)] = []
        while case let next = decidedCounts[pattern] ?? 0, next < group.count,
            let values = waiting.removeValue(forKey: group[next])
        {
            decidedCounts[pattern] = next + 1
            if let values {
                newNames.append((group[next], assign(group[next], values: values)))
            } else {
                skippedIndexes.insert(group[next])
            }
        }
        return newNames
    }

    private mutating func assign(_ index: Int, values: ResultPattern.Values) -> String {
        let name = freeName(patterns[index], values: values)
        takenNames.insert(ExactText(name))
        names[index] = name
        return name
    }

    private mutating func freeName(_ pattern: ResultPattern, values: ResultPattern.Values) -> String {
        let plain = pattern.filled(values).text
        guard takenNames.contains(ExactText(plain)) else { return plain }
        while true {
            let number = nextNumbers[ExactText(plain)] ?? 2
            nextNumbers[ExactText(plain)] = number + 1
            let numbered = pattern.numbered(number)
            let name = numbered.filled(values).text
            if indexesByPattern[numbered] == nil, !takenNames.contains(ExactText(name)) { return name }
        }
    }
}

final class SharedResultNames: Sendable {
    private struct State {
        var names: ResultNames
        var waiting: [Int: CheckedContinuation<String, Never>] = [:]
    }

    private let state: Locked<State>

    init(_ patterns: [ResultPattern], named names: [Int: String] = [:]) {
        state = Locked(State(names: ResultNames(patterns, named: names)))
    }

    /// Waits for the name of a result; every result must settle, with or without a name.
    func name(of index: Int, values: ResultPattern.Values) async -> String {
        await withCheckedContinuation { continuation in
            let (settledName, others) = state.withLock { state in
                if let settledName = state.names.names[index] { return (Optional(settledName), Waiters()) }
                let newNames = state.names.settle(index, values: values)
                let settledName = state.names.names[index]
                if settledName == nil { state.waiting[index] = continuation }
                return (settledName, Self.waiters(of: newNames, in: &state))
            }
            if let settledName { continuation.resume(returning: settledName) }
            for (waiter, name) in others { waiter.resume(returning: name) }
        }
    }

    /// Settles a result without a name, unless it already has one.
    func skip(_ index: Int) {
        let others = state.withLock { state in
            Self.waiters(of: state.names.settle(index, values: nil), in: &state)
        }
        for (waiter, name) in others { waiter.resume(returning: name) }
    }

    private typealias Waiters = [(CheckedContinuation<String, Never>, String)]

    private static func waiters(of newNames: [(index: Int, name: String)], in state: inout State) -> Waiters {
        newNames.compactMap { index, name in state.waiting.removeValue(forKey: index).map { ($0, name) } }
    }
}
