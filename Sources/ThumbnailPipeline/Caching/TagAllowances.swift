import Coordination
import Downloading

/// How many tags clients may add to sources: a plain value.
///
/// A source comes with few tags, so that one that gets many is not asked for by its owner: further tags count more.
struct TagAllowances {
    private struct Allowance {
        var points: Double
        var at: Duration
    }

    private var clients: [ClientNetwork: Allowance] = [:]
    /// When those that have all of theirs are forgotten next, which takes a look at each.
    private var nextPrune = Duration.zero

    /// Tags that a client may add at once.
    static let most = 8_192.0
    /// Tags that a client may add each second.
    static let perSecond = 256.0
    /// Tags of a source that count once, each.
    static let cheapTags = 8
    /// How often each further tag counts.
    static let dearCount = 32.0
    /// Most clients that are told apart; further ones count as one.
    private static let mostClients = 8_192

    /// Takes as many of `tags` as a client may add to a source that has `known` others.
    mutating func taken<Tag>(_ tags: [Tag], known: Int, by client: ClientNetwork, at now: Duration) -> ArraySlice<Tag> {
        if clients[client] == nil, clients.count >= Self.mostClients, now >= nextPrune {
            nextPrune = now + .seconds(1)
            clients = clients.filter { Self.points($0.value, at: now) < Self.most }
        }
        let client = clients[client] == nil && clients.count >= Self.mostClients ? ClientNetwork(of: nil) : client
        var points = clients[client].map { Self.points($0, at: now) } ?? Self.most
        var count = 0
        while count < tags.count {
            let price = known + count < Self.cheapTags ? 1 : Self.dearCount
            guard points >= price else { break }
            points -= price
            count += 1
        }
        clients[client] = Allowance(points: points, at: now)
        return tags.prefix(count)
    }

    private static func points(_ allowance: Allowance, at now: Duration) -> Double {
        min(most, allowance.points + (now - allowance.at).seconds * perSecond)
    }
}
