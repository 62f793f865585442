import Coordination
import Text

/// A slot in use; returning it twice has no effect.
struct SlotToken: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// The slots of running transfers, limited in total and per host.
///
/// A host's first transfer for each tenant may take any slot. For further ones, a quarter of all slots must stay free
/// for hosts without transfers, or half if the host is slow. A single host may use all slots up to its limit.
///
/// A tenant takes further slots, in total and per host, only while it uses fewer than three times the free ones, so
/// that some are always left.
struct DownloadSlots {
    private struct Allocation {
        let host: ExactText
        let flow: TenantFlow?
        let pace: TransferPace
    }

    /// How long a host counts as slow after its last slow transfer.
    private static let slownessMemory = Duration.seconds(30)

    /// The maximum number of slots; lowering it does not end transfers.
    private(set) var maximum: Int
    private var maximumPerHost: Int
    private var exceptions: [ExactText: Int] = [:]
    private var lastNumber: UInt64 = 0
    private var allocations: [SlotToken: Allocation] = [:]
    private var counts: [ExactText: Int] = [:]
    private var flowCounts: [Int: Int] = [:]
    private var slowHosts = BoundedMap<ExactText, Bool>(maximumCount: 4_096)

    init(_ configuration: DownloadConfiguration) {
        self.init(maximum: configuration.maximumActiveDownloads, perHost: configuration.maximumActiveDownloadsPerHost)
        use(configuration)
    }

    init(maximum: Int, perHost: Int) {
        self.maximum = maximum
        maximumPerHost = perHost
    }

    mutating func use(_ configuration: DownloadConfiguration) {
        maximum = configuration.maximumActiveDownloads
        maximumPerHost = configuration.maximumActiveDownloadsPerHost
        exceptions = configuration.origins.maximumActiveDownloads
    }

    var activeCount: Int { allocations.count }

    var hasRoom: Bool { allocations.count < maximum }

    func isIdle(_ host: ExactText) -> Bool { counts[host] == nil }

    func hasRoom(for host: ExactText, of flow: TenantFlow? = nil, at now: Duration) -> Bool {
        let count = counts[host, default: 0]
        let free = (exceptions[host] ?? maximumPerHost) - count
        let own = flow.map { flow in allocations.values.count { $0.flow?.id == flow.id && $0.host == host } } ?? count
        guard hasRoom, free > 0 else { return false }
        if let flow {
            guard flow.mayTake(used: own, free: free),
                flow.mayTake(used: self.count(of: flow), free: maximum - allocations.count)
            else { return false }
        }
        if own == 0 || count == allocations.count { return true }
        return allocations.count < maximum - maximum / (isSlow(host, at: now) ? 2 : 4)
    }

    private func count(of flow: TenantFlow) -> Int { flowCounts[flow.id, default: 0] }

    /// The tenant's transfers divided by its weight.
    func load(of flow: TenantFlow) -> Double { Double(count(of: flow)) / Double(flow.share) }

    func isSlow(_ host: ExactText, at now: Duration) -> Bool {
        if slowHosts.peek(host, at: now) == true { return true }
        let verdicts = allocations.values.filter { $0.host == host }.compactMap { $0.pace.isSlow(at: now) }
        return !verdicts.isEmpty && 2 * verdicts.count { $0 } >= verdicts.count
    }

    /// Takes a slot for a transfer to `host`; nil if all slots, or all of the host's, are in use.
    mutating func take(
        for host: ExactText, of flow: TenantFlow? = nil, _ progress: TransferProgress, at now: Duration
    ) -> SlotToken? {
        guard hasRoom(for: host, of: flow, at: now) else { return nil }
        lastNumber += 1
        let token = SlotToken(number: lastNumber)
        allocations[token] = Allocation(host: host, flow: flow, pace: TransferPace(progress, since: now))
        counts[host, default: 0] += 1
        if let flow { flowCounts[flow.id, default: 0] += 1 }
        return token
    }

    @discardableResult
    mutating func release(_ token: SlotToken, at now: Duration) -> Bool {
        guard let allocation = allocations.removeValue(forKey: token) else { return false }
        let count = counts[allocation.host, default: 0] - 1
        counts[allocation.host] = count > 0 ? count : nil
        if let flow = allocation.flow {
            let left = self.count(of: flow) - 1
            flowCounts[flow.id] = left > 0 ? left : nil
        }
        switch allocation.pace.isSlow(at: now) {
        case true?: slowHosts.insert(true, for: allocation.host, until: now + Self.slownessMemory)
        case false?: slowHosts.remove(allocation.host)
        // A fast end, such as a 404, says nothing about the speed.
        case nil: break
        }
        return true
    }
}

struct TransferPace {
    private static let grace = Duration.seconds(2)
    /// Bytes per second below which a longer transfer counts as slow.
    private static let minimumSpeed = 128 << 10

    private let progress: TransferProgress
    private let start: Duration

    init(_ progress: TransferProgress, since start: Duration) {
        self.progress = progress
        self.start = start
    }

    /// Whether the transfer is slow; nil if it is too early to tell.
    func isSlow(at now: Duration) -> Bool? {
        let age = now - start
        guard age >= Self.grace else { return nil }
        return Double(progress.receivedBytes) < age.seconds * Double(Self.minimumSpeed)
    }
}
