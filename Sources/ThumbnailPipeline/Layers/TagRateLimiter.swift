import Coordination
import Downloading
import HTTPTypes

/// Limits the tags that each client may add to sources.
///
/// Tags beyond ``freeTags`` of a source cost more: owners use few tags.
struct TagRateLimiter {
    private struct Bucket {
        var tokens: Double
        var updatedAt: Duration
    }

    private var clients: [ClientNetwork: Bucket] = [:]
    private var nextPrune = Duration.zero
    static let maximumTokens = 8_192.0
    static let tokensPerSecond = 256.0
    /// The number of tags per source that cost one token each.
    static let freeTags = 8
    static let excessWeight = 32.0
    /// The maximum number of clients tracked separately; further clients share a bucket.
    private static let maximumClients = 8_192

    /// Returns the tags that the client may add.
    ///
    /// - Parameter indexed: The number of tags that the source already has.
    mutating func admit<Tag>(_ tags: [Tag], indexed: Int, by client: ClientNetwork, at now: Duration) -> ArraySlice<Tag>
    {
        if clients[client] == nil, clients.count >= Self.maximumClients, now >= nextPrune {
            nextPrune = now + .seconds(1)
            clients = clients.filter { Self.tokens($0.value, at: now) < Self.maximumTokens }
        }
        let client = clients[client] == nil && clients.count >= Self.maximumClients ? ClientNetwork(of: nil) : client
        var tokens = clients[client].map { Self.tokens($0, at: now) } ?? Self.maximumTokens
        var count = 0
        while count < tags.count {
            let cost = indexed + count < Self.freeTags ? 1 : Self.excessWeight
            guard tokens >= cost else { break }
            tokens -= cost
            count += 1
        }
        clients[client] = Bucket(tokens: tokens, updatedAt: now)
        return tags.prefix(count)
    }

    private static func tokens(_ bucket: Bucket, at now: Duration) -> Double {
        min(maximumTokens, bucket.tokens + (now - bucket.updatedAt).seconds * tokensPerSecond)
    }
}
