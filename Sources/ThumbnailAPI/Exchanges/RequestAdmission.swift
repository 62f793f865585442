import Coordination
import Downloading
import HTTPTypes
import Text

/// Counts the requests under way that trusted proxies have passed on, by client: one client behind a proxy has no more
/// of them than it could have connections of its own.
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

/// Recognizes requests that the service sent itself, by their `CDN-Loop` (RFC 8586).
///
/// Without it, a source that redirects to a URL of the service, whose source does so again, would have the service ask
/// itself for ever.
struct RequestLoops: Sendable {
    private let name: ExactText?

    /// Recognizes the requests of services of this name; without one, none.
    init(name: String?) {
        self.name = name.map { ExactText($0.asciiLowercased) }
    }

    /// Whether a service of the name has sent the request, or passed it on.
    func include(_ request: HTTPRequest) -> Bool {
        guard let name, request.headerFields[.cdnLoop] != nil else { return false }
        return request.headerFields.values(of: .cdnLoop).contains { value in
            HTTPSyntax.list(value).contains { member in
                let id = HTTPSyntax.list(member, separator: UInt8(ascii: ";")).first ?? ""
                return ExactText(id.asciiLowercased) == name
            }
        }
    }
}
