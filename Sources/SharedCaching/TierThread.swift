import Coordination
import Glibc
import Telemetry

/// The `shared-cache` thread: all connections to the server, and its state.
final class TierThread {
    private let configuration: SharedCacheConfiguration
    private let inbox: TierInbox
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let seal: SharedSeal
    private let tls: TierTLS?
    private let audience: PurgeAudience

    /// Handles generations, the log of purges, removals and probes.
    private let control: TierConnection
    private let writer: TierConnection
    /// Receives purges as they are published.
    private let messages: TierConnection
    private let readers: [TierConnection]

    private var health: TierHealth
    private var writing = WriteHealth()
    private var purges: PurgeLog
    private var addresses: [ServerAddress] = []
    private var isLookingUp = false
    private var nextPoll = Duration.zero
    private var isPolling = false
    /// The number of attempts since the last connection, and the error with which the server rejected them.
    private var tries = 0
    private var lastRefusal: String?

    /// The interval between reads of the log, in case a message was missed.
    private static let pollInterval = Duration.milliseconds(400)
    /// The time without a reply after which a connection is closed.
    private static let keepAliveInterval = Duration.seconds(2)
    private static let longestWrite = Duration.seconds(5)
    private static let longestJoin = Duration.seconds(1)
    /// The number of failed attempts at the start after which the outage is logged.
    private static let silentTries = 2
    /// The number of reads on one connection before another is opened.
    private static let readsInRow = 32

    init(
        _ configuration: SharedCacheConfiguration, inbox: TierInbox, tls: TierTLS?, logger: Logger,
        timekeeper: any Timekeeper, audience: PurgeAudience, position: [UInt8]?
    ) {
        self.configuration = configuration
        self.inbox = inbox
        self.tls = tls
        self.logger = logger
        self.timekeeper = timekeeper
        self.audience = audience
        seal = configuration.credentials.seal
        let greeting = Self.greeting(configuration)
        func connection() -> TierConnection {
            TierConnection(greeting: greeting, maximumReplyBytes: configuration.maximumValueBytes + (64 << 10))
        }
        control = connection()
        writer = connection()
        messages = connection()
        readers = (0..<configuration.readConnections).map { _ in connection() }
        connections = [control, writer, messages] + readers
        health = TierHealth(interval: configuration.interval)
        purges = PurgeLog(seal, isReadOnly: configuration.isReadOnly, position: position)
    }

    private let connections: [TierConnection]
    private var watched: [pollfd] = []

    /// Runs until it is stopped and pending removals were tried once more.
    func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { unsafe buffer.deallocate() }
        messages.onMessage = { [weak self] reply in self?.heard(reply) }
        var isEnding = false
        while true {
            let (requests, end) = inbox.take()
            for request in requests { take(request, isEnding: end != nil) }
            keepTime(timekeeper.now)
            if let end {
                if !isEnding, !purges.due.isEmpty { health.state == .down ? join() : poll() }
                isEnding = true
                let canConnect = !control.isClosed || isLookingUp
                if purges.due.isEmpty || !canConnect || end <= timekeeper.now { break }
            }
            for connection in connections { connection.flush() }
            notice(timekeeper.now)
            wait(atMostUntil: end)
            if watched[connections.count].revents != 0 { inbox.drain() }
            for (connection, place) in zip(connections, watched) where place.revents != 0 || connection.hasMoreToRead {
                unsafe connection.receive(into: buffer)
            }
        }
        for connection in connections { connection.close() }
        for entry in purges.due.entries { entry.answer?.give(.refused) }
        if !purges.due.isEmpty {
            logger.warning("removals not confirmed by the shared cache", ["count": .int(purges.due.entries.count)])
        }
        inbox.ended.give(true)
    }

    private func take(_ request: TierInbox.Request, isEnding: Bool) {
        switch request {
        case .read where isEnding, .write where isEnding, .readLog where isEnding: TierInbox.refuse(request)
        case .read(let read): send(read)
        case .write(let write): send(write)
        case .remove(let removal, let answer):
            perform(purges.add(removal, answer, isConnected: health.state != .down))
        case .readLog(let answer):
            if health.state == .down { answer.give(false) } else { perform(purges.read(for: .tell(answer))) }
        case .addresses(let found):
            isLookingUp = false
            addresses = found
            if health.state == .down, !found.isEmpty { join() }
        }
    }

    private func keepTime(_ now: Duration) {
        for reader in readers {
            reader.expire(at: now)
            if let oldest = reader.oldestSentAt, oldest + Self.keepAliveInterval <= now { reader.close() }
        }
        if let oldest = control.oldestSentAt, oldest + Self.keepAliveInterval <= now { control.close() }
        if let oldest = writer.oldestSentAt, oldest + Self.longestWrite <= now { writer.close() }
        notice(now)
        if health.takeTry(at: now) {
            if health.state == .down {
                report()
                join()
            } else {
                probe()
            }
        }
        if health.state != .down, nextPoll <= now {
            nextPoll = now + Self.pollInterval
            if messages.isClosed { subscribe() }
            poll()
        }
    }

    private func notice(_ now: Duration) {
        guard control.isClosed, health.lost(at: now) else { return }
        for connection in connections { connection.close() }
        addresses = []
        show()
    }

    // MARK: Connections

    private static func greeting(_ configuration: SharedCacheConfiguration) -> TierCommand {
        var command = TierCommand()
        if let password = configuration.credentials.password {
            let words = ["AUTH"] + (configuration.credentials.user.map { [$0] } ?? []) + [password]
            command.add(words)
        }
        if configuration.address.database != 0 {
            command.add("SELECT", configuration.address.database)
        }
        return command
    }

    /// Opens a closed connection; returns false if that fails at once, or the server's address is unknown.
    private func open(_ connection: TierConnection) -> Bool {
        guard connection.isClosed else { return true }
        while let address = addresses.first {
            if connection.open(address, tls: tls, host: configuration.address.host, at: timekeeper.now) { return true }
            addresses.removeFirst()
        }
        return false
    }

    /// Connects, reads the missed purges, sends the pending removals, and measures the server's latency.
    private func join() {
        let now = timekeeper.now
        if let oldest = control.oldestSentAt {
            guard oldest + Self.longestJoin <= now else { return }
            // Another address of the server may respond.
            control.close()
            if !addresses.isEmpty { addresses.removeFirst() }
        }
        if addresses.isEmpty { lookUpAddresses() }
        guard open(control) else { return }
        perform(purges.read(for: .join))
    }

    private func lookUpAddresses() {
        let (host, port) = (configuration.address.host, configuration.address.port)
        addresses = ServerAddress.blockingLookUp(host, port: port, isNumeric: true)
        guard addresses.isEmpty, !isLookingUp else { return }
        isLookingUp = true
        let thread = try? WorkThread(named: "shared-names") { [inbox] in
            inbox.post(.addresses(ServerAddress.blockingLookUp(host, port: port, isNumeric: false)))
        }
        if let thread { thread.detach() } else { isLookingUp = false }
    }

    private func probe() {
        let begun = timekeeper.now
        control.send(TierCommand("PING"), at: begun) { [weak self] outcome in
            guard let self, case .replies(let replies) = outcome, health.state != .up else { return }
            let isQuick = replies[0].failure == nil && timekeeper.now - begun <= configuration.timeout
            let wasDown = health.state == .down
            if health.answered(isQuick: isQuick) { show() }
            if wasDown { nextPoll = begun }
        }
    }

    private func poll() {
        guard !isPolling else { return }
        isPolling = true
        control.send(TierCommand("PING"), at: timekeeper.now) { [weak self] _ in self?.isPolling = false
        }
        perform(purges.read(for: .poll))
    }

    private func subscribe() {
        guard open(messages) else { return }
        messages.send(
            TierCommand("SUBSCRIBE", TierNames.channel), at: timekeeper.now
        ) { _ in }
    }

    private func heard(_ reply: Reply) {
        guard let elements = reply.elements, elements.count == 3, let payload = elements[2].text,
            let notice = PurgeNotice(payload, seal)
        else { return }
        perform(purges.learn(notice))
    }

    private func perform(_ actions: [PurgeLog.Action]) {
        for action in actions {
            switch action {
            case .send(let command, let question):
                control.send(command, at: timekeeper.now) { [weak self] outcome in
                    guard let self else { return }
                    perform(purges.answered(question, outcome))
                }
            case .purge(let notice): audience.onPurge(notice.subject)
            case .found(let removal, let found): removal.onFound(Array(found.sources), found.isComplete)
            case .dropEverything: audience.onGap()
            case .note(let position): audience.onPosition(position)
            case .tell(let answer): answer.give(true)
            case .answer(let answer, let state): answer.give(state)
            case .report(let detail):
                logger.warning("log of purges unusable, begun anew", ["detail": .string(detail)])
            case .refuse(let text): control.refuse(text)
            case .probe: probe()
            }
        }
    }

    private func show() {
        inbox.show(health.state, isFull: writing.isFull)
        // ``report()`` does not repeat the line that is logged here.
        (tries, lastRefusal) = (health.state == .down ? Self.silentTries : 0, nil)
        switch health.state {
        case .up: logger.info("shared cache in use")
        case .suspended: logger.warning("shared cache too slow or failing")
        case .down: logger.warning("shared cache out of reach")
        }
    }

    /// Logs once why the server is unusable from the start, and each other reason.
    private func report() {
        tries += 1
        if let refusal = control.refusal, refusal != lastRefusal {
            lastRefusal = refusal
            logger.warning("shared cache refuses to serve", ["detail": .string(refusal)])
        } else if tries == Self.silentTries, lastRefusal == nil {
            logger.warning("shared cache out of reach")
        }
    }

    // MARK: Reads and writes

    private func send(_ read: TierRead) {
        guard health.state == .up, let reader = reader() else { return read.finish(.failed) }
        reader.send(read.command, at: timekeeper.now, deadline: read.deadline) { [weak self] outcome in
            guard case .replies(let replies) = outcome, let values = replies.last?.elements else {
                // First, so that the caller sees the resulting state.
                self?.readFailed(outcome)
                if case .timeout = outcome { read.finish(.timeout) } else { read.finish(.failed) }
                return
            }
            self?.health.succeeded()
            read.finish(.values(values.map { if case .bytes(let bytes) = $0 { bytes } else { nil } }))
        }
    }

    /// Returns the first connection with few pending reads, so that a few reads share one.
    private func reader() -> TierConnection? {
        let chosen =
            readers.first { $0.pendingCount < Self.readsInRow } ?? readers.min { $0.pendingCount < $1.pendingCount }
        return chosen.flatMap { open($0) ? $0 : nil }
    }

    private func readFailed(_ outcome: TierConnection.Outcome) {
        guard health.failed(at: timekeeper.now) else { return }
        show()
        if case .replies(let replies) = outcome, let failure = replies.last?.failure {
            logger.warning("shared cache refuses to serve", ["detail": .string(failure)])
        }
        // The other reads would be answered too late.
        for reader in readers { reader.close() }
    }

    private func send(_ write: TierWrite) {
        guard health.state == .up, writing.mayWrite(at: timekeeper.now), open(writer) else {
            return inbox.end(write, isDone: false)
        }
        writer.send(
            write.command, body: write.body, after: write.after, replyCount: write.replyCount, at: timekeeper.now
        ) { [inbox, weak self] outcome in
            guard case .replies(let replies) = outcome else { return inbox.end(write, isDone: false) }
            inbox.end(write, isDone: replies[0].failure == nil)
            self?.wrote(failure: replies[0].failure)
        }
    }

    /// Handles the end of a write; a full server that evicts nothing replies with `OOM`.
    private func wrote(failure: String?) {
        guard let news = writing.ended(lacksRoom: failure.map { $0.hasPrefix("OOM") }, at: timekeeper.now) else {
            return
        }
        inbox.show(health.state, isFull: writing.isFull)
        news.tell(logger, isStore: false, failure)
    }

    // MARK: Waiting

    /// Waits for events; `watched` has an entry for each connection, and one for the inbox.
    private func wait(atMostUntil end: Duration?) {
        watched.removeAll(keepingCapacity: true)
        // poll ignores entries without a descriptor.
        for connection in connections {
            watched.append(pollfd(fd: connection.descriptor, events: connection.events, revents: 0))
        }
        watched.append(pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0))
        let now = timekeeper.now
        let work = connections.contains(where: \.hasMoreToRead) ? now : nextWork(after: now)
        let next = end.map { min($0, work) } ?? work
        let count = unsafe Glibc.poll(&watched, nfds_t(watched.count), milliseconds(until: next, from: now))
        guard count <= 0 else { return }
        for place in watched.indices { watched[place].revents = 0 }
    }

    private func nextWork(after now: Duration) -> Duration {
        var next = now + Self.pollInterval
        if let at = health.nextTryAt { next = min(next, at) }
        if health.state != .down { next = min(next, nextPoll) }
        for reader in readers {
            if let deadline = reader.nextDeadline { next = min(next, deadline) }
        }
        return next
    }

    private func milliseconds(until time: Duration, from now: Duration) -> CInt {
        CInt(max(0, min((time - now).milliseconds.rounded(.up), 1_000)))
    }
}
