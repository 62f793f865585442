import Coordination
import HTTPTypes
import Testing

@testable import HTTPServing

@Suite struct ConnectionEvictionTests {
    private typealias Candidate = ConnectionEviction.Candidate<Int>

    /// Indexes of connections in closing order; each has a network, and the second of its last use.
    private func order(_ places: [(network: UInt64, idleSince: Int?)], count: Int) -> [Int] {
        let candidates = places.enumerated().map { number, place in
            Candidate(
                connection: number, network: ClientNetwork(bits: place.network),
                idleSince: place.idleSince.map { .seconds($0) })
        }
        return ConnectionEviction.order(candidates, count: count).map(\.connection)
    }

    @Test func `of the network with the most connections, the idlest one is closed`() {
        #expect(order([(1, 5), (2, 9), (2, 7), (2, 8), (1, 1)], count: 1) == [2])
    }

    @Test func `a connection with a request in progress counts for its network, but is not closed`() {
        #expect(order([(1, nil), (1, nil), (1, 30), (2, 1), (2, 2)], count: 5) == [2, 3, 4])
        #expect(order([(1, nil), (1, nil)], count: 1) == [])
        #expect(order([], count: 1) == [])
    }

    @Test func `of networks with equally many connections, the idlest connection is closed`() {
        #expect(order([(1, 3), (2, 2), (3, 4), (1, 9), (2, 9), (3, 9)], count: 1) == [1])
    }

    @Test func `each closing counts when the next one is chosen`() {
        // Network 1 has four connections and network 2 has three: one of 1 is closed first, then the idlest of both.
        #expect(order([(1, 4), (1, 5), (1, 6), (1, 7), (2, 1), (2, 2), (2, 3)], count: 4) == [0, 4, 1, 5])
    }

    @Test func `a few of many connections are chosen quickly, for any networks`() {
        let places = (0..<4_096).map { (network: UInt64($0), idleSince: Optional(4_096 - $0)) }
        #expect(order(places, count: 64) == Array((4_032...4_095).reversed()))
    }
}
