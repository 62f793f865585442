/// A tenant or client that shares threads, slots, queues and memory fairly with others.
package struct Flow: Hashable, Sendable {
    package enum ID: Hashable, Comparable, Sendable {
        case tenant(Int)
        case clients(Int)

        var isTenant: Bool { if case .tenant = self { true } else { false } }
    }

    package let id: ID
    /// The weight relative to other flows.
    package let weight: Int

    /// - Parameter number: Zero for the default tenant.
    package static func tenant(_ number: Int, weight: Int = 1) -> Flow { Flow(id: .tenant(number), weight: weight) }

    /// Clients with similar hashes share a flow, which limits the number of flows; 0 for work without a client.
    package static func client(_ hash: Int, weight: Int = 1) -> Flow {
        Flow(id: .clients(hash & 1_023), weight: weight)
    }

    /// Whether a tenant that uses `used` may take more: in total at most `ratio` times the rest, by its weight.
    ///
    /// A tenant that uses none may take the last one.
    package func mayTake(_ amount: Int = 1, used: Int, free: Int, ratio: Int = 3) -> Bool {
        guard amount <= free else { return false }
        let (limit, overflow) = (ratio * weight).multipliedReportingOverflow(by: free - amount + 1)
        return overflow || used <= limit - amount
    }
}
