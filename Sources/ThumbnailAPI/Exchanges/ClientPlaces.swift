import Coordination
import Downloading

/// Counts the requests under way that trusted proxies have passed on, by client: one client behind a proxy has no more of them than it
/// could have connections of its own.
final class ClientPlaces: Sendable {
    private let limit: Int?
    private let counts = Locked<[IPAddress: Int]>([:])

    /// At most `limit` requests of one client; nil for any number.
    init(limit: Int?) {
        self.limit = limit
    }

    /// Takes a place; false if the client has as many as it may.
    func take(for client: IPAddress) -> Bool {
        guard let limit else { return true }
        return counts.withLock { counts in
            let count = counts[client, default: 0]
            guard count < limit else { return false }
            counts[client] = count + 1
            return true
        }
    }

    /// Gives a place back.
    func giveBack(_ client: IPAddress) {
        guard limit != nil else { return }
        counts.withLock { counts in
            guard let count = counts[client] else { return }
            counts[client] = count > 1 ? count - 1 : nil
        }
    }
}
