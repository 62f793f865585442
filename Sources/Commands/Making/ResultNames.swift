import Coordination
import Text

/// Gives results in a folder their names: `NAME.EXT`, or `NAME-2.EXT` if an earlier source has that.
///
/// The names depend on the order of the sources alone, and not on which of them is ready first: a name is decided when
/// the endings of all earlier sources of the same stem are known. A number never makes a name that another source would
/// have by itself.
struct ResultNames {
    private let stems: [ExactText]
    /// The sources of each stem, in order.
    private let members: [ExactText: [Int]]
    /// How many sources of each stem are decided.
    private var decided: [ExactText: Int] = [:]
    /// The endings of sources that wait for earlier ones; nil for those that get no name.
    private var waiting: [Int: String?] = [:]
    /// The sources that gave up their turn.
    private var passed: Set<Int> = []
    private var taken: Set<ExactText> = []
    /// The number to try next for a name.
    private var numbers: [ExactText: Int] = [:]
    /// The names that were given.
    private(set) var names: [Int: String] = [:]

    /// Names for sources of these stems, in the order of the sources.
    init(stems: [String]) {
        self.stems = stems.map { ExactText(Self.fitting($0)) }
        members = Dictionary(grouping: self.stems.indices, by: { [stems = self.stems] in stems[$0] })
    }

    /// Notes the ending of a source's result, nil if it has none; returns the names that are decided by it.
    ///
    /// A source that had none and has one later gets a name that is free then.
    mutating func settle(_ index: Int, fileExtension: String?) -> [(index: Int, name: String)] {
        let stem = stems[index]
        guard names[index] == nil, waiting[index] == nil, let group = members[stem] else { return [] }
        if passed.contains(index) {
            guard let fileExtension else { return [] }
            return [(index, give(index, fileExtension))]
        }
        waiting[index] = .some(fileExtension)
        var found: [(index: Int, name: String)] = []
        while case let next = decided[stem] ?? 0, next < group.count,
            let ending = waiting.removeValue(forKey: group[next])
        {
            decided[stem] = next + 1
            if let ending {
                found.append((group[next], give(group[next], ending)))
            } else {
                passed.insert(group[next])
            }
        }
        return found
    }

    private mutating func give(_ index: Int, _ ending: String) -> String {
        let name = freeName(stems[index], ending)
        taken.insert(ExactText(name))
        names[index] = name
        return name
    }

    private mutating func freeName(_ stem: ExactText, _ ending: String) -> String {
        let plain = "\(stem).\(ending)"
        guard taken.contains(ExactText(plain)) else { return plain }
        while true {
            let number = numbers[ExactText(plain)] ?? 2
            numbers[ExactText(plain)] = number + 1
            let numbered: ExactText = "\(stem)-\(number)"
            let name = "\(numbered).\(ending)"
            if members[numbered] == nil, !taken.contains(ExactText(name)) { return name }
        }
    }

    /// The stem cut so that the name fits into a folder with its number and ending.
    private static func fitting(_ stem: String) -> String {
        guard stem.utf8.count > longest else { return stem }
        var cut = stem[...]
        while cut.utf8.count > longest { cut.removeLast() }
        return String(cut)
    }

    /// A name has at most 255 bytes.
    private static let longest = 230
}

/// The names of results, for the tasks that make them.
final class SharedResultNames: Sendable {
    private struct State {
        var names: ResultNames
        var waiting: [Int: CheckedContinuation<String, Never>] = [:]
    }

    private let state: Locked<State>

    /// Names for sources of these stems.
    init(stems: [String]) {
        state = Locked(State(names: ResultNames(stems: stems)))
    }

    /// The name of a result, as soon as it is decided; each source must settle, with or without a name.
    func name(of index: Int, fileExtension: String) async -> String {
        await withCheckedContinuation { continuation in
            let (known, others) = state.withLock { state in
                if let known = state.names.names[index] { return (Optional(known), Waiters()) }
                let found = state.names.settle(index, fileExtension: fileExtension)
                let known = state.names.names[index]
                if known == nil { state.waiting[index] = continuation }
                return (known, Self.waiters(of: found, in: &state))
            }
            if let known { continuation.resume(returning: known) }
            for (waiter, name) in others { waiter.resume(returning: name) }
        }
    }

    /// Notes that a source gets no name, unless it has one.
    func pass(_ index: Int) {
        let others = state.withLock { state in
            Self.waiters(of: state.names.settle(index, fileExtension: nil), in: &state)
        }
        for (waiter, name) in others { waiter.resume(returning: name) }
    }

    private typealias Waiters = [(CheckedContinuation<String, Never>, String)]

    private static func waiters(of found: [(index: Int, name: String)], in state: inout State) -> Waiters {
        found.compactMap { index, name in state.waiting.removeValue(forKey: index).map { ($0, name) } }
    }
}
