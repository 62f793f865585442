import Coordination
import Downloading
import HTTPTypes

/// Limits the tags that each client may add to sources.
///
/// Tags beyond ``freeTags`` of a source cost more: owners use few tags.
struct TagAllowances {
    private struct Allowance {
        var points: Double
        var at: Duration
    }

    private var clients: [ClientNetwork: Allowance] = [:]
    private var nextPrune = Duration.zero
    static let maximumPoints = 8_192.0
    static let perSecond = 256.0
    /// The number of tags per source that cost one point each.
    static let freeTags = 8
    static let excessWeight = 32.0
    /// The maximum number of clients tracked separately; further clients share an allowance.
    private static let maximumClients = 8_192

    /// Returns the tags that the client may add.
    ///
    /// - Parameter indexed: The number of tags that the source already has.
    mutating func take<Tag>(_ tags: [Tag], indexed: Int, by client: ClientNetwork, at now: Duration) -> ArraySlice<Tag>
    {
        if clients[client] == nil, clients.count >= Self.maximumClients, now >= nextPrune {
            nextPrune = now + .seconds(1)
            clients = clients.filter { Self.points($0.value, at: now) < Self.maximumPoints }
        }
        let client = clients[client] == nil && clients.count >= Self.maximumClients ? ClientNetwork(of: nil) : client
        var points = clients[client].map { Self.points($0, at: now) } ?? Self.maximumPoints
        var count = 0
        while count < tags.count {
            let cost = indexed + count < Self.freeTags ? 1 : Self.excessWeight
            guard points >= cost else { break }
            points -= cost
            count += 1
        }
        clients[client] = Allowance(points: points, at: now)
        return tags.prefix(count)
    }

    private static func points(_ allowance: Allowance, at now: Duration) -> Double {
        min(maximumPoints, allowance.points + (now - allowance.at).seconds * perSecond)
    }
}
