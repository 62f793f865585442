/// A plain value.
struct MemoryBudgetState<Answer> {
    typealias ID = UInt64

    private struct Waiter {
        let id: ID
        let bytes: Int
        let answer: Answer
    }

    let limit: Int
    private let maximumWaiting: Int
    var reserved = 0
    var rejections = 0
    var purges: [MemoryBudget.Purge: Int] = [:]
    private var queues = [Deque<Waiter>](repeating: Deque(), count: MemoryBudget.Use.allCases.count)
    private var lastID: ID = 0

    init(limit: Int, maximumWaiting: Int) {
        self.limit = limit
        self.maximumWaiting = maximumWaiting
    }

    var waitingCount: Int { queues.reduce(0) { $0 + $1.count } }

    func ceiling(for use: MemoryBudget.Use) -> Int { use == .work ? limit : limit - limit / 4 }

    mutating func newID() -> ID {
        lastID += 1
        return lastID
    }

    /// If there is room and no earlier waiter.
    mutating func take(_ bytes: Int, for use: MemoryBudget.Use, living: Int) -> Bool {
        guard queues[...use.rawValue].allSatisfy(\.isEmpty), fits(bytes, for: use, living: living) else { return false }
        reserved += bytes
        return true
    }

    /// Returns false if the line is full.
    mutating func enter(_ id: ID, _ bytes: Int, for use: MemoryBudget.Use, answer: Answer) -> Bool {
        guard waitingCount < maximumWaiting else {
            rejections += 1
            return false
        }
        queues[use.rawValue].append(Waiter(id: id, bytes: bytes, answer: answer))
        return true
    }

    mutating func leave(_ id: ID) -> Answer? {
        for index in queues.indices {
            if let waiter = queues[index].removeFirst(where: { $0.id == id }) { return waiter.answer }
        }
        return nil
    }

    /// Admits waiters while there is room; `isShort` if the next one did not fit.
    mutating func admit(living: Int) -> (answers: [Answer], isShort: Bool) {
        var answers: [Answer] = []
        for use in MemoryBudget.Use.allCases {
            while let waiter = queues[use.rawValue].first {
                guard fits(waiter.bytes, for: use, living: living) else { return (answers, true) }
                reserved += waiter.bytes
                answers.append(waiter.answer)
                _ = queues[use.rawValue].popFirst()
            }
        }
        return (answers, false)
    }

    private func fits(_ bytes: Int, for use: MemoryBudget.Use, living: Int) -> Bool {
        // Subtract, because the size of an extreme request saturates.
        bytes <= ceiling(for: use) - living - reserved
    }
}
