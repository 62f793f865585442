import Coordination
import Text

/// The right to run one transfer, which can be given back once.
struct SlotToken: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// The slots of running transfers, capped in total and per host, and shared so that slow hosts leave some to others.
///
/// A host's first transfer may take any slot. For a further one, a quarter of all slots must stay free for hosts that
/// have none, or half if the host is slow. A single host takes as many as its cap allows.
///
/// The state is the set of tokens that are out, not a counter: giving one back twice, or one that was never taken,
/// changes nothing.
struct DownloadSlots {
    private struct Holding {
        let host: ExactText
        let pace: TransferPace
    }

    /// For how long a host counts as slow after its last slow transfer has ended.
    private static let slownessMemory = Duration.seconds(30)

    /// Slots in total; lowering it takes none away.
    var maximum: Int
    private let maximumPerHost: Int
    private let exceptions: [ExactText: Int]
    private var lastNumber: UInt64 = 0
    private var holdings: [SlotToken: Holding] = [:]
    private var counts: [ExactText: Int] = [:]
    private var slowHosts = ExpiringMemo<ExactText, Bool>(capacity: 4_096)

    /// `exceptions` are the hosts with a cap of their own.
    init(maximum: Int, perHost: Int, exceptions: [ExactText: Int] = [:]) {
        self.exceptions = exceptions
        self.maximum = maximum
        maximumPerHost = perHost
    }

    /// Slots taken.
    var activeCount: Int { holdings.count }

    /// Whether any host could get a slot.
    var hasRoom: Bool { holdings.count < maximum }

    /// Whether `host` has no transfer.
    func isIdle(_ host: ExactText) -> Bool { counts[host] == nil }

    /// Whether `host` could get a slot at `now`.
    func hasRoom(for host: ExactText, at now: Duration) -> Bool {
        let count = counts[host, default: 0]
        guard hasRoom, count < exceptions[host] ?? maximumPerHost else { return false }
        if count == 0 || count == holdings.count { return true }
        return holdings.count < maximum - maximum / (isSlow(host, at: now) ? 2 : 4)
    }

    /// Whether half of a host's transfers that can be judged are slow, or its last slow one ended a short while ago.
    func isSlow(_ host: ExactText, at now: Duration) -> Bool {
        if slowHosts.value(for: host, at: now) == true { return true }
        let verdicts = holdings.values.filter { $0.host == host }.compactMap { $0.pace.isSlow(at: now) }
        return !verdicts.isEmpty && 2 * verdicts.count { $0 } >= verdicts.count
    }

    /// Takes a slot for `host`, for a transfer of this progress; nil when all or the host's are taken.
    mutating func take(for host: ExactText, _ progress: TransferProgress, at now: Duration) -> SlotToken? {
        guard hasRoom(for: host, at: now) else { return nil }
        lastNumber += 1
        let token = SlotToken(number: lastNumber)
        holdings[token] = Holding(host: host, pace: TransferPace(progress, since: now))
        counts[host, default: 0] += 1
        return token
    }

    /// Gives a slot back; false when it had been given back already.
    @discardableResult
    mutating func giveBack(_ token: SlotToken, at now: Duration) -> Bool {
        guard let holding = holdings.removeValue(forKey: token) else { return false }
        let count = counts[holding.host, default: 0] - 1
        counts[holding.host] = count > 0 ? count : nil
        switch holding.pace.isSlow(at: now) {
        case true?: slowHosts.remember(true, for: holding.host, until: now + Self.slownessMemory, at: now)
        case false?: slowHosts.forget(holding.host)
        // A quick end, such as a 404, says nothing of its pace.
        case nil: break
        }
        return true
    }
}

/// How quickly a transfer uses its slot.
struct TransferPace {
    /// A transfer as short as this is never slow.
    private static let grace = Duration.seconds(2)
    /// Bytes a second below which a longer one is.
    private static let leastSpeed = 128 << 10

    private let progress: TransferProgress
    private let start: Duration

    /// The pace of a transfer that has had its slot since `start`.
    init(_ progress: TransferProgress, since start: Duration) {
        self.progress = progress
        self.start = start
    }

    /// Whether it has been silent or slow so far; nil while it is too young to be judged.
    func isSlow(at now: Duration) -> Bool? {
        let age = now - start
        guard age >= Self.grace else { return nil }
        return Double(progress.receivedBytes) < age.seconds * Double(Self.leastSpeed)
    }
}
