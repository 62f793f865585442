import Coordination
import Downloading
import Synchronization

/// CPU time and fetched bytes of one request; work joined from another request is free.
package final class RequestBill: Sendable {
    private let account: TenantAccount?
    private let processorNanoseconds = Atomic<Int64>(0)
    private let fetchedBytes = Atomic(0)

    /// - Parameter account: The account that is also charged; nil for none.
    package init(to account: TenantAccount?) { self.account = account }

    func charge(processor: Duration) {
        processorNanoseconds.add(processor.nanoseconds, ordering: .relaxed)
        account?.charge(processor: processor)
    }

    func charge(originBytes: Int) {
        guard originBytes > 0 else { return }
        fetchedBytes.add(originBytes, ordering: .relaxed)
        account?.charge(originBytes: originBytes)
    }

    package var processorTime: Duration { .nanoseconds(processorNanoseconds.load(ordering: .relaxed)) }
    package var originBytes: Int { fetchedBytes.load(ordering: .relaxed) }

    /// The tenant's flow; nil if each client has its own.
    var flow: Flow? { account?.flow }
    var weight: Int { account?.weight ?? 1 }
    /// The tenant's flow in shared queues, one for all clients of the default tenant; nil without other tenants.
    var tenantFlow: Flow? {
        account.flatMap { account in account.weight.map { Flow.tenant(account.number ?? 0, weight: $0) } }
    }

    package var workRejection: TenantRejection? { account?.workRejection() }
}
