import CCurl
import Coordination
import Glibc
import HTTPTypes
import Text

/// Runs all transfers on the `transfers` thread, which creates and destroys it; others reach it through the inbox.
final class CurlLoop {
    /// The most recent profiles by origin name; the key nil is for absolute URLs.
    private var profiles: [ExactText?: CurlProfile] = [:]
    private let multi: CurlMulti
    private let inbox: CurlInbox
    private let resolver: NameResolver
    private let observer: DownloadObserver
    private let timekeeper: any Timekeeper
    private var retryBudget = RetryBudget()
    private let sockets = ReusableSockets()
    private var localAddresses = LocalAddresses()
    private var transfers: [UInt64: CurlTransfer] = [:]
    private var waitingForName: [ExactText: [UInt64]] = [:]
    private var descriptors: [curl_waitfd] = []

    init(
        multi: CurlMulti, inbox: CurlInbox, resolver: NameResolver, timekeeper: any Timekeeper,
        observer: DownloadObserver
    ) {
        self.observer = observer
        self.timekeeper = timekeeper
        self.multi = multi
        self.inbox = inbox
        self.resolver = resolver
    }

    func run() {
        while true {
            let (commands, isShutDown) = inbox.take()
            for command in commands { perform(command) }
            if isShutDown { break }
            resumePausedTransfers()
            multi.perform()
            while let (transfer, code) = multi.nextFinished() { endHop(of: transfer, code: code) }
            let now = timekeeper.now
            resumeResolved(at: now)
            let next = expire(at: now)
            poll(until: transfers.values.contains(where: \.hop.isPaused) ? now : next, now: now)
        }
        for transfer in transfers.values { end(transfer, with: .failure(DownloadError.shuttingDown)) }
    }

    private func resumePausedTransfers() {
        for transfer in Array(transfers.values) where transfer.hop.isPaused {
            let code = transfer.resumeReceiving()
            if code != CURLE_OK { endHop(of: transfer, code: code) }
        }
    }

    private func perform(_ command: CurlInbox.Command) {
        switch command {
        case .start(let load):
            retryBudget.deposit()
            let transfer = CurlTransfer(
                load, now: timekeeper.now, timekeeper: timekeeper, sockets: sockets,
                mayRetry: { [unowned self] in mayRetry() })
            transfers[load.id] = transfer
            beginHop(of: transfer)
        case .cancel(let id):
            if let transfer = transfers[id] { end(transfer, with: .failure(CancellationError())) }
        }
    }

    private func profile(for rules: OriginRules) -> CurlProfile {
        let name = rules.origin.map { ExactText($0.name) }
        if let profile = profiles[name], profile.rules === rules { return profile }
        let profile = CurlProfile(rules)
        profiles[name] = profile
        return profile
    }

    private func beginHop(of transfer: CurlTransfer) {
        let url = transfer.url
        do throws(DownloadError) {
            try transfer.load.admitHop(url)
        } catch {
            return end(transfer, with: .failure(error))
        }
        let isCall = transfer.load.request.isCall
        if !transfer.isAtOwnOrigin,
            let violation = transfer.rules.unnamed.configuration.violation(to: url, isCall: isCall)
        {
            return end(transfer, with: .failure(DownloadError.sourceNotAllowed(violation)))
        }
        findAddresses(for: transfer)
    }

    /// Resolves the host's name, then the proxy's.
    private func findAddresses(for transfer: CurlTransfer) {
        while let host = transfer.unresolvedURL {
            if let address = host.address {
                transfer.setAddresses([address])
            } else if let addresses = resolver.cached(host.host, at: timekeeper.now) {
                transfer.setAddresses(addresses)
            } else {
                transfer.beginLookup(at: timekeeper.now)
                waitingForName[ExactText(host.host), default: []].append(transfer.load.id)
                return resolver.lookUp(host.host)
            }
        }
        connect(transfer, to: transfer.hop.hostAddresses ?? [])
    }

    private func resumeResolved(at now: Duration) {
        // A resumed transfer may need its proxy's address, and c-ares answers some names immediately.
        while true {
            let finished = resolver.takeFinished(at: now)
            if finished.isEmpty { return }
            for (name, resolution) in finished { resume(waitingFor: name, with: resolution) }
        }
    }

    private func resume(waitingFor name: String, with resolution: NameResolver.Resolution) {
        for id in waitingForName.removeValue(forKey: ExactText(name)) ?? [] {
            // The transfer may have been canceled or timed out.
            guard let transfer = transfers[id] else { continue }
            transfer.endLookup(at: timekeeper.now)
            switch resolution {
            case .success(let addresses):
                transfer.setAddresses(addresses)
                findAddresses(for: transfer)
            case .failure(let error): end(transfer, with: .failure(error))
            }
        }
    }

    /// Connects, unless the address policy denies one of the addresses.
    private func connect(_ transfer: CurlTransfer, to addresses: [IPAddress]) {
        let now = timekeeper.now
        let hostAddresses = localAddresses.current(at: now)
        let port = transfer.url.port
        let isOwn = transfer.isAtOwnOrigin
        let policy = transfer.rules.unnamed.addressPolicy
        let isAllowed = { [policy] address in isOwn || policy.allows(address, port: port, localAddresses: hostAddresses)
        }
        if let denied = addresses.first(where: { !isAllowed($0) }) {
            let violation = policy.violation(to: denied, port: port, localAddresses: hostAddresses) ?? ""
            let host = transfer.url.address == nil ? "; the host is \(transfer.url.host)" : ""
            return end(transfer, with: .failure(DownloadError.sourceNotAllowed(violation + host)))
        }
        if let expiry = transfer.signingKey?.expiresAt, timekeeper.secondsSince1970 >= expiry {
            return end(
                transfer, with: .failure(DownloadError.unreachable("credentials: the temporary key has expired")))
        }
        transfer.beginConnecting(to: addresses, isAllowed: isAllowed)
        let profile = profile(for: isOwn ? transfer.rules : transfer.rules.unnamed)
        guard let easy = profile.takeHandle(),
            easy.prepare(transfer, connectTimeout: transfer.connectTimeLeft(at: now)), multi.add(easy)
        else { return end(transfer, with: .failure(DownloadError.internal("libcurl rejected the transfer"))) }
        transfer.attach(easy, of: profile)
    }

    /// Ends the current request; `code` is nil after a timeout.
    private func endHop(of transfer: CurlTransfer, code: CURLcode?) {
        detach(transfer)
        switch transfer.outcome(code) {
        case .success(let result): end(transfer, with: .success(result))
        case .failure(let error): end(transfer, with: .failure(error))
        case .again:
            transfer.beginHop(at: timekeeper.now)
            beginHop(of: transfer)
        case .retry:
            transfer.beginRetry(at: timekeeper.now)
        case .redirect(let location):
            do throws(DownloadError) {
                try transfer.beginHop(to: location, at: timekeeper.now)
                beginHop(of: transfer)
            } catch {
                end(transfer, with: .failure(error))
            }
        }
    }

    private func mayRetry() -> Bool {
        guard retryBudget.withdraw() else { return false }
        observer.onRetry()
        return true
    }

    private func end(_ transfer: CurlTransfer, with result: Result<TransferResult, any Error>) {
        detach(transfer)
        guard transfers.removeValue(forKey: transfer.load.id) != nil else { return }
        transfer.load.continuation.resume(with: result)
    }

    /// Detaches the handle; libcurl closes the connection unless the response was read completely.
    private func detach(_ transfer: CurlTransfer) {
        guard let (easy, profile) = transfer.detach() else { return }
        multi.remove(easy)
        profile.release(easy)
    }

    private func expire(at now: Duration) -> Duration? {
        var next: Duration?
        for transfer in Array(transfers.values) {
            if transfer.hasExpired(at: now) {
                endHop(of: transfer, code: nil)
            } else if transfer.endPause(at: now) {
                beginHop(of: transfer)
                next = now
            } else {
                next = min(next ?? .seconds(Int64.max), transfer.nextCheck)
            }
        }
        return next
    }

    private func poll(until next: Duration?, now: Duration) {
        descriptors.removeAll(keepingCapacity: true)
        for socket in resolver.sockets {
            let events = (socket.isReadable ? CURL_WAIT_POLLIN : 0) | (socket.isWritable ? CURL_WAIT_POLLOUT : 0)
            descriptors.append(curl_waitfd(fd: socket.descriptor, events: Int16(events), revents: 0))
        }
        var wait = next.map { $0 - now } ?? .seconds(60)
        if let limit = resolver.timeLeft { wait = min(wait, limit) }
        multi.blockingPoll(also: &descriptors, atMost: wait)
        for descriptor in descriptors where descriptor.revents != 0 {
            let events = CInt(descriptor.revents)
            resolver.process(
                descriptor.fd, isReadable: events & CURL_WAIT_POLLIN != 0, isWritable: events & CURL_WAIT_POLLOUT != 0)
        }
        if resolver.timeLeft != nil { resolver.process() }
    }
}
