import Coordination
import Glibc
import Telemetry

final class RedisThread {
    private let configuration: SharedCacheConfiguration
    private let inbox: RedisInbox
    private let gate: StoreGate
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let signer: SharedSigner
    private let tls: RedisTLS?
    private let handlers: PurgeHandlers
    private let control: RedisConnection
    private let writer: RedisConnection
    private let messages: RedisConnection
    private let readers: [RedisConnection]

    private var purges: PurgeLog
    private var addresses: [ServerAddress] = []
    private var isLookingUp = false
    private var nextPoll = Duration.zero
    private var isPolling = false
    /// The attempts since the last connection, and the server's error if it rejected them.
    private var tries = 0
    private var lastRejection: String?

    /// The time between reads of the log, in case a message was lost.
    private static let pollInterval = Duration.milliseconds(400)
    private static let replyTimeout = Duration.seconds(2)
    private static let writeTimeout = Duration.seconds(5)
    private static let connectTimeout = Duration.seconds(1)
    private static let attemptsBeforeLogging = 2
    private static let readsInRow = 32
    private let connections: [RedisConnection]
    private var watched: [pollfd] = []

    init(
        _ configuration: SharedCacheConfiguration, inbox: RedisInbox, gate: StoreGate, tls: RedisTLS?,
        handlers: PurgeHandlers, position: [UInt8]?
    ) {
        self.configuration = configuration
        self.inbox = inbox
        self.tls = tls
        self.gate = gate
        logger = gate.logger
        timekeeper = gate.timekeeper
        self.handlers = handlers
        signer = configuration.credentials.signer
        let greeting = Self.greeting(configuration)
        func connection() -> RedisConnection {
            RedisConnection(greeting: greeting, maximumReplyBytes: configuration.store.maximumValueBytes + (64 << 10))
        }
        control = connection()
        writer = connection()
        messages = connection()
        readers = (0..<configuration.readConnections).map { _ in connection() }
        connections = [control, writer, messages] + readers
        purges = PurgeLog(signer, isReadOnly: configuration.store.isReadOnly, position: position)
    }

    private var isDown: Bool { gate.health.state == .down }

    func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { unsafe buffer.deallocate() }
        messages.onMessage = { [weak self] reply in self?.receive(reply) }
        var isShuttingDown = false
        while true {
            let (requests, end) = inbox.take()
            for request in requests { take(request, isShuttingDown: end != nil) }
            runDueTasks(timekeeper.now)
            if let end {
                if !isShuttingDown, !purges.pending.isEmpty { isDown ? connect() : poll() }
                isShuttingDown = true
                let canConnect = !control.isClosed || isLookingUp
                if purges.pending.isEmpty || !canConnect || end <= timekeeper.now { break }
            }
            unsafe transfer(with: buffer, until: end)
        }
        close()
    }

    /// Writes, waits for events, and reads.
    private func transfer(with buffer: UnsafeMutableRawBufferPointer, until end: Duration?) {
        for connection in connections { connection.flush() }
        handleDisconnect()
        wait(atMostUntil: end)
        if watched[connections.count].revents != 0 { inbox.drain() }
        for (connection, event) in zip(connections, watched) where event.revents != 0 || connection.hasMoreToRead {
            unsafe connection.receive(into: buffer)
        }
    }

    private func close() {
        for connection in connections { connection.close() }
        for entry in purges.pending.entries { entry.promise?.fulfill(.rejected) }
        if !purges.pending.isEmpty {
            logger.warning(gate.messages.lostRemovals, ["count": .int(purges.pending.entries.count)])
        }
        inbox.ended.fulfill(true)
    }

    private func take(_ request: RedisInbox.Request, isShuttingDown: Bool) {
        switch request {
        case .read where isShuttingDown, .write where isShuttingDown, .readLog where isShuttingDown:
            RedisInbox.fail(request)
        case .read(let read): send(read)
        case .write(let write): send(write)
        case .remove(let removal, let promise):
            perform(purges.add(removal, fulfilling: promise, isConnected: !isDown))
        case .readLog(let promise):
            if isDown { promise.fulfill(false) } else { perform(purges.read(for: .catchUp(promise))) }
        case .addresses(let resolved):
            isLookingUp = false
            addresses = resolved
            if isDown, !resolved.isEmpty { connect() }
        }
    }

    private func runDueTasks(_ now: Duration) {
        for reader in readers {
            reader.expire(at: now)
            if let oldest = reader.oldestSentAt, oldest + Self.replyTimeout <= now { reader.close() }
        }
        if let oldest = control.oldestSentAt, oldest + Self.replyTimeout <= now { control.close() }
        if let oldest = writer.oldestSentAt, oldest + Self.writeTimeout <= now { writer.close() }
        handleDisconnect()
        if gate.admitProbe() {
            if isDown {
                report()
                connect()
            } else {
                probe()
            }
        }
        if !isDown, nextPoll <= now {
            nextPoll = now + Self.pollInterval
            if messages.isClosed { subscribe() }
            poll()
        }
    }

    private func handleDisconnect() {
        guard control.isClosed, gate.recordLoss() else { return }
        for connection in connections { connection.close() }
        addresses = []
        tries = 0
        lastRejection = nil
    }

    private static func greeting(_ configuration: SharedCacheConfiguration) -> RedisCommand {
        var command = RedisCommand()
        if let password = configuration.credentials.password {
            let words = ["AUTH"] + (configuration.credentials.user.map { [$0] } ?? []) + [password]
            command.add(words)
        }
        if configuration.address.database != 0 {
            command.add("SELECT", configuration.address.database)
        }
        return command
    }

    /// Starts to connect; returns false if that fails immediately, or the server's address is unknown.
    private func open(_ connection: RedisConnection) -> Bool {
        guard connection.isClosed else { return true }
        while let address = addresses.first {
            if connection.open(address, tls: tls, host: configuration.address.host, at: timekeeper.now) { return true }
            addresses.removeFirst()
        }
        return false
    }

    /// Connects, reads the missed purges, sends the pending removals, and measures the server's latency.
    private func connect() {
        let now = timekeeper.now
        if let oldest = control.oldestSentAt {
            guard oldest + Self.connectTimeout <= now else { return }
            // Another address of the server may respond.
            control.close()
            if !addresses.isEmpty { addresses.removeFirst() }
        }
        if addresses.isEmpty { lookUpAddresses() }
        guard open(control) else { return }
        perform(purges.read(for: .join))
    }

    private func lookUpAddresses() {
        let host = configuration.address.host
        let port = configuration.address.port
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
        control.send(RedisCommand("PING"), at: begun) { [weak self] outcome in
            guard let self, case .replies(let replies) = outcome, gate.health.state != .up else { return }
            let wasDown = isDown
            gate.recordProbe(
                isQuick: replies[0].failure == nil && timekeeper.now - begun <= configuration.store.timeout)
            if wasDown { nextPoll = begun }
        }
    }

    private func poll() {
        guard !isPolling else { return }
        isPolling = true
        control.send(RedisCommand("PING"), at: timekeeper.now) { [weak self] _ in self?.isPolling = false
        }
        perform(purges.read(for: .poll))
    }

    private func subscribe() {
        guard open(messages) else { return }
        messages.send(RedisCommand("SUBSCRIBE", RedisNames.channel), at: timekeeper.now) { _ in }
    }

    private func receive(_ reply: Reply) {
        guard let elements = reply.elements, elements.count == 3, let payload = elements[2].shortBytes,
            let notice = PurgeNotice(payload, signer: signer)
        else { return }
        perform(purges.receive(notice))
    }

    private func perform(_ actions: [PurgeLog.Action]) {
        for action in actions {
            switch action {
            case .send(let command, let expected):
                control.send(command, at: timekeeper.now) { [weak self] outcome in
                    guard let self else { return }
                    perform(purges.process(outcome, of: expected))
                }
            case .purge(let notice): handlers.onPurge(notice.subject)
            case .tagged(let removal, let tagged): removal.onSources(Array(tagged.sources), tagged.isComplete)
            case .dropEverything: handlers.onGap()
            case .savePosition(let position): handlers.onPosition(position)
            case .caughtUp(let promise): promise.fulfill(true)
            case .fulfill(let promise, let state): promise.fulfill(state)
            case .report(let detail):
                logger.warning("purge log unusable; starting a new one", ["detail": .string(detail)])
            case .fail(let text): control.fail(text)
            case .probe: probe()
            }
        }
    }

    /// Logs why the server cannot be used, once per reason.
    private func report() {
        tries += 1
        if let rejection = control.rejection, rejection != lastRejection {
            lastRejection = rejection
            logger.warning("shared cache rejected the connection", ["detail": .string(rejection)])
        } else if tries >= Self.attemptsBeforeLogging, lastRejection == nil {
            gate.reportOutage()
        }
    }

    private func send(_ read: RedisRead) {
        guard gate.health.state == .up, let reader = reader() else { return read.completion(.failed()) }
        reader.send(read.command, at: timekeeper.now, deadline: read.deadline) { [weak self] outcome in
            switch outcome {
            case .replies(let replies):
                if let values = replies.last?.elements {
                    read.completion(.values(values.map { if case .bytes(let bytes) = $0 { bytes } else { nil } }))
                } else {
                    read.completion(.failed(replies.last?.failure))
                }
            case .timeout: read.completion(.timeout)
            case .unreadable, .closed: read.completion(.failed())
            }
            self?.closeSlowReaders()
        }
    }

    /// Closes read connections to a server that has become too slow, because other replies would be late.
    private func closeSlowReaders() {
        if gate.health.state == .suspended { for reader in readers { reader.close() } }
    }

    /// Returns the first connection with few pending reads, so that several reads share one.
    private func reader() -> RedisConnection? {
        let chosen =
            readers.first { $0.pendingCount < Self.readsInRow } ?? readers.min { $0.pendingCount < $1.pendingCount }
        return chosen.flatMap { open($0) ? $0 : nil }
    }

    private func send(_ write: RedisWrite) {
        guard gate.health.state == .up, open(writer) else {
            return gate.endWrite(of: write.length, in: write.queue, with: .dropped)
        }
        writer.send(
            write.command, body: write.body, after: write.after, replyCount: write.replyCount, at: timekeeper.now
        ) { [gate] outcome in
            guard case .replies(let replies) = outcome else {
                return gate.endWrite(of: write.length, in: write.queue, with: .dropped)
            }
            // A full server that evicts nothing replies with `OOM`.
            gate.endWrite(
                of: write.length, in: write.queue,
                with: replies[0].failure.map { .failed($0, isFull: $0.hasPrefix("OOM")) } ?? .written)
        }
    }

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
        for index in watched.indices { watched[index].revents = 0 }
    }

    private func nextWork(after now: Duration) -> Duration {
        var next = now + Self.pollInterval
        let health = gate.health
        if let at = health.nextProbeAt { next = min(next, at) }
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
