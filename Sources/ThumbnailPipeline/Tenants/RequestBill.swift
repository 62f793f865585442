import Coordination
import Downloading
import Synchronization

/// The cost of one request: of the work that it started.
package final class RequestBill: Sendable {
    private let account: TenantAccount?
    private let processorNanoseconds = Atomic<Int64>(0)
    private let fetchedBytes = Atomic(0)

    /// - Parameter account: Nil if nothing accounts for the request.
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

    /// Nil if the client decides.
    var flow: Int? { account?.flow }
    var share: Int { account?.share ?? 1 }
    /// The clients of the default tenant share one; nil without other tenants.
    var tenantFlow: TenantFlow? {
        account.flatMap { account in account.share.map { TenantFlow(id: account.flow ?? 0, share: $0) } }
    }

    package var workRefusal: TenantRefusal? { account?.workRefusal() }
}
