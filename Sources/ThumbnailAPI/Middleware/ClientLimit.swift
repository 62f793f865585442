import Coordination
import Dialects
import HTTPTypes

/// Limits the pending requests of each client behind trusted proxies, whose connections are not limited.
package final class ClientLimit: PendingRequestCounter {
    private let limit: Int?
    private let counts = Locked<[IPAddress: Int]>([:])

    package init(_ limit: Int?) { self.limit = limit }

    func begin(_ context: RequestContext) throws(APIError) -> (@Sendable () -> Void)? {
        guard let limit, context.isProxied, let client = context.client else { return nil }
        let isAdmitted = counts.withLock { counts in
            let count = counts[client, default: 0]
            if count < limit { counts[client] = count + 1 }
            return count < limit
        }
        guard isAdmitted else { throw .tooManyPerClient }
        return { [self] in
            counts.withLock { counts in
                guard let count = counts[client] else { return }
                counts[client] = count > 1 ? count - 1 : nil
            }
        }
    }
}
