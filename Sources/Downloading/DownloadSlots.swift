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
        let flow: Flow?
        let pace: TransferPace
    }

    /// How long a host counts as slow after its last slow transfer.
    private static let slownessMemory = Duration.seconds(30)

    /// The maximum number of slots; lowering it does not end transfers.
    private(set) var maximum: Int
    private var maximumPerHost: Int
    private var hostLimits: [ExactText: Int] = [:]
    private var lastNumber: UInt64 = 0
    private var allocations: [SlotToken: Allocation] = [:]
    private var counts: [ExactText: Int] = [:]
    private var flowCounts: [Flow.ID: Int] = [:]
    private var slowHosts = BoundedMap<ExactText, Bool>(maximumCount: 4_096)

    init(_ configuration: DownloadConfiguration) {
        self.init(maximum: configuration.maximumActiveDownloads, perHost: configuration.maximumActiveDownloadsPerHost)
        setConfiguration(configuration)
    }

    init(maximum: Int, perHost: Int) {
        self.maximum = maximum
        maximumPerHost = perHost
    }

    mutating func setConfiguration(_ configuration: DownloadConfiguration) {
        maximum = configuration.maximumActiveDownloads
        maximumPerHost = configuration.maximumActiveDownloadsPerHost
        hostLimits = configuration.origins.maximumActiveDownloads
    }

    var activeCount: Int { allocations.count }

    var hasFreeSlot: Bool { allocations.count < maximum }

    func isIdle(_ host: ExactText) -> Bool { counts[host] == nil }

    func hasFreeSlot(for host: ExactText, of flow: Flow? = nil, at now: Duration) -> Bool {
        let count = counts[host, default: 0]
        let free = (hostLimits[host] ?? maximumPerHost) - count
        let flowCount =
            flow.map { flow in allocations.values.count { $0.flow?.id == flow.id && $0.host == host } } ?? count
        guard hasFreeSlot, free > 0 else { return false }
        if let flow {
            guard flow.mayTake(used: flowCount, free: free),
                flow.mayTake(used: self.count(of: flow), free: maximum - allocations.count)
            else { return false }
        }
        if flowCount == 0 || count == allocations.count { return true }
        return allocations.count < maximum - maximum / (isSlow(host, at: now) ? 2 : 4)
    }

    private func count(of flow: Flow) -> Int { flowCounts[flow.id, default: 0] }

    /// The tenant's transfers divided by its weight.
    func load(of flow: Flow) -> Double { Double(count(of: flow)) / Double(flow.weight) }

    func isSlow(_ host: ExactText, at now: Duration) -> Bool {
        if slowHosts.peek(host, at: now) == true { return true }
        let paces = allocations.values.filter { $0.host == host }.compactMap { $0.pace.isSlow(at: now) }
        return !paces.isEmpty && 2 * paces.count { $0 } >= paces.count
    }

    /// Acquires a slot for a transfer to `host`; nil if all slots, or all of the host's, are in use.
    mutating func acquire(
        for host: ExactText, of flow: Flow? = nil, progress: TransferProgress, at now: Duration
    ) -> SlotToken? {
        guard hasFreeSlot(for: host, of: flow, at: now) else { return nil }
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
            let remaining = self.count(of: flow) - 1
            flowCounts[flow.id] = remaining > 0 ? remaining : nil
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
