import Coordination
import Telemetry

/// Shrinks the caches if the kernel is short of memory; checks every second.
struct MemoryWatch: Sendable {
    private static let interval = Duration.seconds(1)

    let budget: MemoryBudget
    /// Returns the pressure; nil if the kernel does not report it.
    let pressure: @Sendable () -> MemoryPressure?
    let logger: Logger
    let timekeeper: any Timekeeper

    func run() async {
        var last: MemoryBudget.Eviction?
        while !Task.isCancelled {
            let step = pressure()?.eviction
            if let step {
                let freed = budget.evict(step)
                // Report each step only once.
                if step != last {
                    logger.warning("memory low", ["purge": .string(step.rawValue), "freedBytes": .int(freed)])
                }
            } else {
                budget.admitWaiters()
            }
            last = step
            try? await timekeeper.sleep(until: timekeeper.now + Self.interval)
        }
    }
}

/// The percentage of the last ten seconds in which tasks waited for memory (pressure stall information).
struct MemoryPressure: Equatable, Sendable {
    /// The share of time in which at least one task waited.
    var some: Double
    /// The share of time in which all tasks waited for memory.
    var full: Double

    init(some: Double, full: Double) {
        self.some = some
        self.full = full
    }

    /// Parses a line such as `some avg10=1.53 avg60=0.87 avg300=0.31 total=1083571`.
    init?(_ text: String) {
        func share(_ kind: String) -> Double? {
            let line = text.split(separator: "\n").first { $0.hasPrefix(kind + " ") }
            let field = line?.split(separator: " ").first { $0.hasPrefix("avg10=") }
            return field.flatMap { Double($0.dropFirst("avg10=".utf8.count)) }
        }
        guard let some = share("some") else { return nil }
        self.init(some: some, full: share("full") ?? 0)
    }

    var eviction: MemoryBudget.Eviction? {
        if full >= 10 { return .empty }
        return some >= 10 ? .preferred : nil
    }
}
