/// The right to run one transfer, which can be given back once.
struct SlotToken: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// The slots of running transfers, capped in all and per host.
///
/// What counts is the set of tokens that are out, not a counter: giving one back twice, or one that was never taken, changes nothing.
struct DownloadSlots {
    /// Slots in all; lowering it takes none away.
    var maximum: Int
    private let maximumPerHost: Int
    private let exceptions: [String: Int]
    private var lastNumber: UInt64 = 0
    private var hosts: [SlotToken: String] = [:]
    private var counts: [String: Int] = [:]

    /// `exceptions` are the hosts with a cap of their own.
    init(maximum: Int, perHost: Int, exceptions: [String: Int] = [:]) {
        self.exceptions = exceptions
        self.maximum = maximum
        maximumPerHost = perHost
    }

    /// Slots taken.
    var activeCount: Int { hosts.count }

    /// Whether any host could get a slot.
    var hasRoom: Bool { hosts.count < maximum }

    /// Whether `host` could get a slot.
    func hasRoom(for host: String) -> Bool { hasRoom && counts[host, default: 0] < exceptions[host] ?? maximumPerHost }

    /// Takes a slot for `host`; nil when all or the host's are taken.
    mutating func take(for host: String) -> SlotToken? {
        guard hasRoom(for: host) else { return nil }
        lastNumber += 1
        let token = SlotToken(number: lastNumber)
        hosts[token] = host
        counts[host, default: 0] += 1
        return token
    }

    /// Gives a slot back; false when it had been given back already.
    @discardableResult
    mutating func giveBack(_ token: SlotToken) -> Bool {
        guard let host = hosts.removeValue(forKey: token) else { return false }
        let count = counts[host, default: 0] - 1
        counts[host] = count > 0 ? count : nil
        return true
    }
}
