import Coordination
import Text

/// `NAME.EXT`, or `NAME-2.EXT` if an earlier source has that name.
///
/// The names depend only on the order of the sources, not on which one finishes first: a name is assigned when the
/// extensions of all earlier sources with the same stem are known. A number never yields a name that another source
/// would have by itself.
struct ResultNames {
    private let stems: [ExactText]
    private let members: [ExactText: [Int]]
    private var decided: [ExactText: Int] = [:]
    private var waiting: [Int: String?] = [:]
    private var passed: Set<Int> = []
    private var taken: Set<ExactText> = []
    private var numbers: [ExactText: Int] = [:]
    private(set) var names: [Int: String] = [:]

    init(stems: [String]) {
        self.stems = stems.map { ExactText(Self.fitting($0)) }
        members = Dictionary(grouping: self.stems.indices, by: { [stems = self.stems] in stems[$0] })
    }

    /// Nil if the source has no result; returns the names that this assigns.
    ///
    /// A source that had none and later has one gets a name that is free then.
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

    private static func fitting(_ stem: String) -> String {
        guard stem.utf8.count > longest else { return stem }
        var cut = stem[...]
        while cut.utf8.count > longest { cut.removeLast() }
        return String(cut)
    }

    private static let longest = 230
}

final class SharedResultNames: Sendable {
    private struct State {
        var names: ResultNames
        var waiting: [Int: CheckedContinuation<String, Never>] = [:]
    }

    private let state: Locked<State>

    init(stems: [String]) { state = Locked(State(names: ResultNames(stems: stems))) }

    /// Each source must settle, with or without a name.
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

    /// The source has no name, unless it was settled before.
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
