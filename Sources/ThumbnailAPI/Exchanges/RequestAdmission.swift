import Coordination
import Downloading
import HTTPTypes
import Text

/// Counts pending requests through trusted proxies by client, so that a client behind a proxy has at most as many as it
/// could have connections.
final class ClientPlaces: Sendable {
    private let limit: Int?
    private let counts = Locked<[IPAddress: Int]>([:])

    /// Allows at most `limit` requests per client; nil for no limit.
    init(limit: Int?) {
        self.limit = limit
    }

    /// Takes a place; returns false if the client has reached the limit.
    func take(for client: IPAddress) -> Bool {
        guard let limit else { return true }
        return counts.withLock { counts in
            let count = counts[client, default: 0]
            guard count < limit else { return false }
            counts[client] = count + 1
            return true
        }
    }

    func release(_ client: IPAddress) {
        guard limit != nil else { return }
        counts.withLock { counts in
            guard let count = counts[client] else { return }
            counts[client] = count > 1 ? count - 1 : nil
        }
    }
}

/// Detects requests that the service sent itself, by their `CDN-Loop` (RFC 8586).
///
/// Otherwise, a source that redirects to a URL of the service, whose source does the same, would loop forever.
struct RequestLoops: Sendable {
    private let name: ExactText?

    /// Detects requests of services with this name; without one, none.
    init(name: String?) {
        self.name = name.map { ExactText($0.asciiLowercased) }
    }

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
