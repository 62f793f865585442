package import Coordination
package import JSON
package import Text

/// Streams the events of a log to readers, each at its own pace.
///
/// While there are readers, a task checks for new events 40 times a second and offers them to all readers at once, ten
/// times a second or when many have accumulated. Recording therefore wakes no reader, and a thousand events a second
/// cost each reader ten writes. A reader that falls behind loses its oldest pending events and learns how many.
package final class EventFeed: Sendable {
    package struct Full: Error {}

    package static let maximumReaders = 64

    private struct State {
        var readers: [EventReader] = []
        var offeredID = 0
        var lastOffer = Duration.zero
        var nextStatistics = Duration.zero
        var isRunning = false
        var isShutDown = false

        mutating func add(_ reader: EventReader) -> Addition {
            guard !isShutDown else { return .rejected }
            readers.append(reader)
            defer { isRunning = true }
            return isRunning ? .joined : .startsFeed
        }
    }

    private enum Addition {
        case joined, startsFeed, rejected
    }

    private struct Round {
        var readers: [EventReader] = []
        var events: [NumberedEvent] = []
        var missed = 0
        var needsStatistics = false
    }

    private static let interval = Duration.milliseconds(25)
    private static let offerInterval = Duration.milliseconds(100)
    private static let statisticsInterval = Duration.seconds(1)
    /// New events that trigger an offer at once.
    private static let batchThreshold = 200

    private let log: EventLog
    private let statistics: @Sendable () -> JSONValue
    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    /// - Parameter statistics: Called every second while a reader wants statistics.
    package init(of log: EventLog, timekeeper: any Timekeeper, statistics: @escaping @Sendable () -> JSONValue) {
        self.log = log
        self.timekeeper = timekeeper
        self.statistics = statistics
    }

    /// - Parameter lastID: The last event that the reader has seen; it gets all later events still in the log. Nil
    ///   starts with the next event. A number that has not been assigned yet comes from an earlier process, so the
    ///   reader has seen no event of this one.
    package func open(_ filter: EventFilter, after lastID: Int? = nil) throws(Full) -> EventReader {
        let now = timekeeper.now
        let (reader, addition) = try state.withLock { state throws(Full) in
            guard state.readers.count < Self.maximumReaders else { throw Full() }
            let newest = log.lastID
            if state.readers.isEmpty {
                state.offeredID = newest
                state.lastOffer = now
                state.nextStatistics = now
            }
            let seen = lastID.map { $0 <= newest ? $0 : 0 } ?? newest
            let queue = backlog(after: seen, upTo: state.offeredID, filter: filter, at: now)
            let reader = EventReader(filter, after: seen, queue: queue) { [weak self] in self?.remove($0) }
            return (reader, state.add(reader))
        }
        switch addition {
        case .joined: break
        case .startsFeed: Task.detached { await self.run() }
        case .rejected: reader.close()
        }
        return reader
    }

    /// The events after `seen`, including those already offered to other readers.
    private func backlog(
        after seen: Int, upTo offeredID: Int, filter: EventFilter, at now: Duration
    ) -> EventQueue<EventReader.Waiter> {
        let stored = log.events(after: seen)
        let lost = stored.first.map { $0.id - seen - 1 } ?? 0
        return EventQueue(
            stored.filter { $0.id <= offeredID && filter.accepts($0.event) }.map { EventText($0) }, lost: lost, at: now)
    }

    package var readerCount: Int { state.withLock { $0.readers.count } }

    package func shutDown() {
        state.withLock { $0.isShutDown = true }
        closeReaders()
    }

    /// Ends all streams; readers may connect again.
    package func closeReaders() { for reader in state.withLock({ $0.readers }) { reader.close() } }

    private func remove(_ reader: EventReader) { state.withLock { state in state.readers.removeAll { $0 === reader } } }

    private func run() async {
        while let round = nextRound() {
            offer(round)
            do {
                try await timekeeper.sleep(until: timekeeper.now + Self.interval)
            } catch {
                return
            }
        }
    }

    /// May be empty; nil if there are no readers.
    private func nextRound() -> Round? {
        let now = timekeeper.now
        return state.withLock { state -> Round? in
            guard !state.readers.isEmpty else {
                state.isRunning = false
                return nil
            }
            var round = Round()
            let newest = log.lastID
            if now - state.lastOffer >= Self.offerInterval || newest - state.offeredID >= Self.batchThreshold {
                round.readers = state.readers
                round.events = log.events(after: state.offeredID)
                round.missed = (round.events.first?.id ?? state.offeredID + 1) - state.offeredID - 1
                state.offeredID = round.events.last?.id ?? state.offeredID
                state.lastOffer = now
            }
            if now >= state.nextStatistics {
                state.nextStatistics = now + Self.statisticsInterval
                round.readers = state.readers
                round.needsStatistics = true
            }
            return round
        }
    }

    private func offer(_ round: Round) {
        let events = round.events.map { (event: $0, text: EventText($0)) }
        let now = timekeeper.now
        let needsStatistics = round.needsStatistics && round.readers.contains { $0.filter.accepts(.stats) }
        let statistics = needsStatistics ? EventText(statistics: self.statistics()) : nil
        for reader in round.readers {
            let accepted = events.filter { $0.event.id > reader.firstID && reader.filter.accepts($0.event.event) }
            reader.offer(
                accepted.map(\.text), missed: round.missed,
                statistics: reader.filter.accepts(.stats) ? statistics : nil, at: now)
        }
    }
}

package struct EventFilter: Sendable {
    private let kinds: Set<ServiceEvent.Kind>
    private let url: ExactText?

    /// - Parameter url: Only events of this source match.
    package init(kinds: Set<ServiceEvent.Kind> = Set(ServiceEvent.Kind.allCases), url: ExactText? = nil) {
        self.kinds = kinds
        self.url = url
    }

    func accepts(_ event: ServiceEvent) -> Bool {
        guard kinds.contains(event.kind) else { return false }
        guard let url else { return true }
        return event.url.map { ExactText($0) == url } ?? false
    }

    func accepts(_ kind: ServiceEvent.Kind) -> Bool { url == nil && kinds.contains(kind) }
}

/// Takes batches on its own task, alternating with the feed.
package final class EventReader: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    let filter: EventFilter
    /// The reader gets only events from this number on.
    let firstID: Int
    private let queue: Locked<EventQueue<Waiter>>
    private let leave: @Sendable (EventReader) -> Void

    init(
        _ filter: EventFilter, after firstID: Int, queue: EventQueue<Waiter>,
        leave: @escaping @Sendable (EventReader) -> Void
    ) {
        self.filter = filter
        self.firstID = firstID
        self.queue = Locked(queue)
        self.leave = leave
    }

    /// Waits for bytes; nil when the reader is closed.
    ///
    /// Only one task may wait.
    package func next() async -> [UInt8]? {
        await withCheckedContinuation { (waiter: Waiter) in queue.withLock { $0.wait(waiter) }?.resume() }
        guard let batch = queue.withLock({ $0.take() }) else { return nil }
        var bytes: [UInt8] = []
        if batch.lost > 0 { bytes += EventText.lost(batch.lost) }
        for event in batch.events { bytes += event.bytes }
        if let statistics = batch.statistics { bytes += statistics.bytes }
        return bytes.isEmpty ? EventText.keepAlive : bytes
    }

    package func close() {
        queue.withLock { $0.close() }?.resume()
        leave(self)
    }

    func offer(_ events: [EventText], missed: Int, statistics: EventText?, at now: Duration) {
        queue.withLock { $0.offer(events, missed: missed, statistics: statistics, at: now) }?.resume()
    }
}
