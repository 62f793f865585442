package import Coordination
import Downloading

/// The part of the memory budget that the bodies of requests may take: a quarter of it, and a quarter of that for one
/// client.
///
/// A body takes memory as it arrives, never by what it announces. Its share stays taken until its request has been
/// answered, so that neither slow bodies nor many quick ones drive out the rest of the service.
package final class BodyMemory: Sendable {
    private struct Shares {
        var all = 0
        var byClient: [ClientNetwork: Int] = [:]
    }

    private let budget: MemoryBudget
    private let shares = Locked(Shares())
    private let mostOfAll: Int
    /// Most bytes of the bodies of one client.
    let mostOfOne: Int

    /// A part of `budget`.
    package init(of budget: MemoryBudget) {
        self.budget = budget
        mostOfAll = budget.limit / 4
        mostOfOne = mostOfAll / 4
    }

    /// Bytes that bodies have taken.
    var taken: Int { shares.withLock { $0.all } }

    /// The memory of a body of which nothing has arrived yet.
    func room(for client: IPAddress?) throws(MemoryBudget.Full) -> Room {
        Room(of: self, client: ClientNetwork(of: client), reservation: try budget.reserveNow(0, for: .arrival))
    }

    private func fits(_ bytes: Int, of client: ClientNetwork, _ shares: Shares) -> Bool {
        bytes <= mostOfAll - shares.all && bytes <= mostOfOne - shares.byClient[client, default: 0]
    }

    private func take(_ bytes: Int, for client: ClientNetwork) -> Bool {
        shares.withLock { shares in
            guard fits(bytes, of: client, shares) else { return false }
            shares.all += bytes
            shares.byClient[client, default: 0] += bytes
            return true
        }
    }

    private func giveBack(_ bytes: Int, of client: ClientNetwork) {
        shares.withLock { shares in
            shares.all -= bytes
            let rest = shares.byClient[client, default: 0] - bytes
            shares.byClient[client] = rest > 0 ? rest : nil
        }
    }

    /// The memory of one body.
    final class Room: Sendable {
        private let memory: BodyMemory
        private let client: ClientNetwork
        private let reservation: MemoryReservation
        private let share = Locked(0)

        /// Memory is taken in portions of this size.
        private static let portion = 64 << 10

        fileprivate init(of memory: BodyMemory, client: ClientNetwork, reservation: MemoryReservation) {
            (self.memory, self.client, self.reservation) = (memory, client, reservation)
        }

        deinit { release() }

        /// Refuses a body that would find no room now; takes nothing.
        ///
        /// - Throws: ``MemoryBudget/Full``.
        func check(_ length: Int) throws(MemoryBudget.Full) {
            let fits = memory.shares.withLock { memory.fits(length, of: client, $0) }
            if !fits { throw MemoryBudget.Full() }
        }

        /// Makes room for all `length` bytes that have arrived.
        ///
        /// - Parameter announced: Bytes that will arrive in all, if that is known.
        /// - Throws: ``MemoryBudget/Full``.
        func grow(to length: Int, of announced: Int? = nil) throws(MemoryBudget.Full) {
            let held = share.withLock { $0 }
            guard length > held else { return }
            let portion = min(max(length, held + Self.portion), max(length, announced ?? .max)) - held
            guard let taken = [portion, length - held].first(where: { memory.take($0, for: client) }) else {
                throw MemoryBudget.Full()
            }
            share.withLock { $0 += taken }
            try reservation.grow(by: taken, for: .arrival)
        }

        /// All has arrived: from now on the block of bytes counts itself, and only the share stays taken.
        func settle() { reservation.release() }

        /// Gives everything back.
        func release() {
            reservation.release()
            let bytes = share.withLock { share in
                defer { share = 0 }
                return share
            }
            if bytes > 0 { memory.giveBack(bytes, of: client) }
        }
    }
}
