import Coordination
import Text

/// A failure to get a key; the text is for logs and contains no secrets.
struct KeyFailure: Error, Equatable {
    let detail: String
    let isPermanent: Bool
}

/// The keys that sign requests to named origins; temporary keys are renewed before they expire.
///
/// The first request fetches the key and waits. Later, a request that finds it close to expiry starts a renewal and
/// continues with the old key. Each source of keys has one renewal at a time; failed renewals are retried with pauses.
final class OriginKeys: Sendable {
    typealias KeyRequest = @Sendable (KeySource, Int) throws(KeyFailure) -> OriginCredentials.AccessKey

    private struct IssuedKey: Sendable {
        let key: OriginCredentials.AccessKey
        /// Seconds since 1970 after which a request starts a renewal.
        let renewsAt: Int
        let expiresAt: Int

        init(_ key: OriginCredentials.AccessKey, at now: Int) {
            self.key = key
            let end = key.expiresAt ?? .max
            let life = max(0, end - now)
            renewsAt = end - min(300, life / 2)
            expiresAt = end - min(10, max(1, life / 10))
        }
    }

    private struct State {
        var issuedKeys: [KeySource: IssuedKey] = [:]
        /// The last failure, the number of failures, and the time of the next attempt.
        var failures: [KeySource: (failure: KeyFailure, count: Int, until: Duration)] = [:]
        var replacements: [KeySource: Duration] = [:]
    }

    private static let pauses: [Duration] = [.milliseconds(200), .seconds(1)]
    /// The longest pause between renewals, and the shortest between replacements of rejected keys.
    private static let maximumPause = Duration.seconds(60)
    /// Error codes of object stores for a key that is no longer valid.
    private static let expiryCodes = ["ExpiredToken", "InvalidAccessKeyId", "InvalidToken"]

    private let timekeeper: any Timekeeper
    private let request: KeyRequest
    private let renewals = SharedTasks<KeySource, IssuedKey>()
    private let state = Locked(State())

    init(timekeeper: any Timekeeper, requesting request: @escaping KeyRequest) {
        self.timekeeper = timekeeper
        self.request = request
    }

    /// Returns the key for requests to this origin; nil if they are not signed.
    func key(for origin: Origin?) async throws -> OriginCredentials.AccessKey? {
        guard case .signature(let source, _)? = origin?.credentials else { return nil }
        if case .fixed(let key) = source { return key }
        let wall = timekeeper.secondsSince1970
        let issuedKey = state.withLock { $0.issuedKeys[source] }
        if let issuedKey, wall < issuedKey.renewsAt { return issuedKey.key }
        // Detached: the renewal outlives its request.
        if !renewals.contains(source), state.withLock({ mayRenew(source, in: $0) }) {
            Task.immediate { [self] in _ = try? await renewed(source) }
        }
        if let issuedKey, wall < issuedKey.expiresAt { return issuedKey.key }
        do {
            return try await renewed(source).key
        } catch let failure as KeyFailure {
            throw DownloadError.unreachable("credentials: \(failure.detail)")
        }
    }

    static func requiresRenewal(_ code: String) -> Bool { expiryCodes.contains(code) }

    /// Returns a new key after a rejection; nil for keys from the settings, or if the key was just replaced.
    func key(
        for origin: Origin?, insteadOf rejected: OriginCredentials.AccessKey
    ) async throws -> OriginCredentials.AccessKey? {
        guard case .signature(let source, _)? = origin?.credentials else { return nil }
        let now = timekeeper.now
        state.withLock { state in
            guard state.issuedKeys[source]?.key == rejected,
                state.replacements[source].map({ now - $0 >= Self.maximumPause }) ?? true
            else { return }
            state.replacements[source] = now
            state.issuedKeys[source] = nil
        }
        guard let next = try await key(for: origin), next != rejected else { return nil }
        return next
    }

    private func renewed(_ source: KeySource) async throws -> IssuedKey {
        try await renewals.value(
            for: source,
            cached: {
                state.withLock { state in
                    state.issuedKeys[source].flatMap { timekeeper.secondsSince1970 < $0.renewsAt ? $0 : nil }
                }
            }, operation: { [self] in try await renew(source) }
        ).value
    }

    private func renew(_ source: KeySource) async throws -> IssuedKey {
        if let earlier = state.withLock({ mayRenew(source, in: $0) ? nil : $0.failures[source]?.failure }) {
            throw earlier
        }
        var pauses = Self.pauses.makeIterator()
        while true {
            do {
                let issuedKey = try await issuedKey(from: source)
                state.withLock { state in
                    state.issuedKeys[source] = issuedKey
                    state.failures[source] = nil
                }
                return issuedKey
            } catch let failure as KeyFailure {
                if !failure.isPermanent, let pause = pauses.next() {
                    try await timekeeper.sleep(until: timekeeper.now + pause)
                    continue
                }
                state.withLock { state in
                    let count = (state.failures[source]?.count ?? 0) + 1
                    let pause = min(Self.maximumPause, .seconds(1 << min(count, 6)))
                    state.failures[source] = (failure, count, timekeeper.now + pause)
                }
                throw failure
            }
        }
    }

    private func mayRenew(_ source: KeySource, in state: State) -> Bool {
        state.failures[source].map { timekeeper.now >= $0.until } ?? true
    }

    private func issuedKey(from source: KeySource) async throws -> IssuedKey {
        let now = timekeeper.secondsSince1970
        let result: Result<OriginCredentials.AccessKey, KeyFailure>? = await WorkThread.value(named: "credentials") {
            [request] in Result { () throws(KeyFailure) in try request(source, now) }
        }
        guard let result else { throw KeyFailure(detail: "no thread could be started", isPermanent: false) }
        return IssuedKey(try result.get(), at: timekeeper.secondsSince1970)
    }
}
