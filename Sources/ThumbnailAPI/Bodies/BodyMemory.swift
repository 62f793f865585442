package import Coordination
import HTTPTypes

/// Reserves memory for request bodies: at most a quarter of the budget, and a quarter of that per client.
///
/// Memory is reserved as bytes arrive, not from `Content-Length`, and released after the response, so that neither
/// slow bodies nor many fast ones can starve the rest of the service.
package final class BodyMemory: Sendable {
    private struct Shares {
        var all = 0
        var byClient: [ClientNetwork: Int] = [:]
    }

    private let budget: MemoryBudget
    private let shares = Locked(Shares())
    private let maximumOfAllBodies: Int
    /// The maximum for one client, in bytes.
    let maximumPerBody: Int

    package init(of budget: MemoryBudget) {
        self.budget = budget
        maximumOfAllBodies = budget.limit / 4
        maximumPerBody = maximumOfAllBodies / 4
    }

    var taken: Int { shares.withLock { $0.all } }

    func lease(for client: IPAddress?) throws(MemoryBudget.Full) -> Lease {
        Lease(of: self, client: ClientNetwork(of: client), reservation: try budget.reserveNow(0, for: .arrival))
    }

    private func fits(_ bytes: Int, of client: ClientNetwork, in shares: Shares) -> Bool {
        bytes <= maximumOfAllBodies - shares.all && bytes <= maximumPerBody - shares.byClient[client, default: 0]
    }

    /// Takes the first of `sizes` that fits; if none fits, releases the body's share and returns nil.
    ///
    /// So if several bodies compete for the rest, one of them completes.
    private func take(_ sizes: [Int], for client: ClientNetwork, elseGiveBack share: Int) -> Int? {
        shares.withLock { shares in
            guard let bytes = sizes.first(where: { fits($0, of: client, in: shares) }) else {
                Self.release(share, of: client, from: &shares)
                return nil
            }
            shares.all += bytes
            shares.byClient[client, default: 0] += bytes
            return bytes
        }
    }

    private func release(_ bytes: Int, of client: ClientNetwork) {
        shares.withLock { Self.release(bytes, of: client, from: &$0) }
    }

    private static func release(_ bytes: Int, of client: ClientNetwork, from shares: inout Shares) {
        shares.all -= bytes
        let rest = shares.byClient[client, default: 0] - bytes
        shares.byClient[client] = rest > 0 ? rest : nil
    }

    final class Lease: Sendable {
        private let memory: BodyMemory
        private let client: ClientNetwork
        private let reservation: MemoryReservation
        private let share = Locked(0)
        private static let portion = 64 << 10

        fileprivate init(of memory: BodyMemory, client: ClientNetwork, reservation: MemoryReservation) {
            self.memory = memory
            self.client = client
            self.reservation = reservation
        }

        deinit { release() }

        func check(_ length: Int) throws(MemoryBudget.Full) {
            let fits = memory.shares.withLock { memory.fits(length, of: client, in: $0) }
            if !fits { throw MemoryBudget.Full() }
        }

        /// Reserves memory for `length` bytes; releases all of the body's memory if there is too little.
        ///
        /// - Parameter announced: The total length, if known.
        func grow(to length: Int, of announced: Int? = nil) throws(MemoryBudget.Full) {
            let held = share.withLock { $0 }
            guard length > held else { return }
            let portion = min(max(length, held + Self.portion), max(length, announced ?? .max)) - held
            guard let taken = memory.take([portion, length - held], for: client, elseGiveBack: held) else {
                share.withLock { $0 = 0 }
                reservation.release()
                throw MemoryBudget.Full()
            }
            share.withLock { $0 += taken }
            do {
                try reservation.grow(by: taken)
            } catch {
                release()
                throw error
            }
        }

        /// Releases the reservation, because the block of bytes is counted from now on; the share remains in use.
        func settle() { reservation.release() }

        func release() {
            reservation.release()
            let bytes = share.exchange(0)
            if bytes > 0 { memory.release(bytes, of: client) }
        }
    }
}
