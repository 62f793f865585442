/// Timeouts of a transfer; libcurl's low-speed limit would not distinguish a slow response from a late one.
struct TransferClock {
    private enum Phase {
        case connecting(until: Duration)
        case waiting(until: Duration)
        case receiving(windowEnd: Duration, windowBytes: Int)
    }

    private let configuration: DownloadConfiguration
    private let end: Duration
    private var phase: Phase

    init(_ configuration: DownloadConfiguration, now: Duration, timeLimit: Duration? = nil) {
        self.configuration = configuration
        end = now + min(configuration.downloadTimeout, timeLimit ?? configuration.downloadTimeout)
        phase = .connecting(until: now + configuration.connectTimeout)
    }

    mutating func beginHop(at now: Duration) { phase = .connecting(until: now + configuration.connectTimeout) }

    mutating func recordConnection(at now: Duration) { phase = .waiting(until: now + configuration.firstByteTimeout) }

    mutating func recordResponse(at now: Duration) {
        if case .receiving = phase { return }
        phase = .receiving(windowEnd: now + configuration.lowSpeedInterval, windowBytes: 0)
    }

    mutating func received(_ count: Int) {
        guard case .receiving(let end, let bytes) = phase else { return }
        phase = .receiving(windowEnd: end, windowBytes: bytes + count)
    }

    mutating func hasExpired(at now: Duration) -> Bool {
        guard now < end else { return true }
        switch phase {
        case .connecting(let limit), .waiting(let limit): return now >= limit
        case .receiving(let windowEnd, let bytes):
            guard now >= windowEnd else { return false }
            phase = .receiving(windowEnd: now + configuration.lowSpeedInterval, windowBytes: 0)
            return bytes < configuration.lowSpeedBytes
        }
    }

    var nextCheck: Duration {
        switch phase {
        case .connecting(let limit), .waiting(let limit): min(limit, end)
        case .receiving(let windowEnd, _): min(windowEnd, end)
        }
    }

    func connectTimeLeft(at now: Duration) -> Duration {
        if case .connecting(let limit) = phase { return max(min(limit, end) - now, .milliseconds(1)) }
        return configuration.connectTimeout
    }
}
