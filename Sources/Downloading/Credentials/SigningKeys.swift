import Coordination
import Text

/// Why a service lends no key; the text is for logs, and holds no secret.
struct KeyFailure: Error, Equatable {
    let detail: String
    /// Whether the next try would end in the same way.
    let isLasting: Bool
}

/// The keys that sign the requests to named origins; those that are lent are renewed before they end.
///
/// A key is asked for when it is needed: by the first request, and then by one that finds it near its end, which does
/// not wait for the next key. Origins with one source share its key. Each source is asked by one renewal at a time,
/// which belongs to no request, and after failures only now and then.
final class SigningKeys: Sendable {
    /// Asks for a key at this time, in seconds since 1970; blocks for a bounded time.
    typealias Lending = @Sendable (KeySource, Int) throws(KeyFailure) -> OriginCredentials.AccessKey

    /// A key that was lent, with the times at which it is given back.
    private struct Loan: Sendable {
        let key: OriginCredentials.AccessKey
        /// From then on the next one is asked for.
        let renewsAt: Int
        /// From then on it is not used: a request takes a while.
        let lastsUntil: Int

        init(_ key: OriginCredentials.AccessKey, at now: Int) {
            self.key = key
            let end = key.endsAt ?? .max
            let life = max(0, end - now)
            renewsAt = end - min(300, life / 2)
            lastsUntil = end - min(10, max(1, life / 10))
        }
    }

    private struct State {
        var loans: [KeySource: Loan] = [:]
        /// The last failure, how often it came, and until when nobody asks again.
        var failures: [KeySource: (failure: KeyFailure, count: Int, until: Duration)] = [:]
        /// When a refused key was given up for the next one.
        var replacements: [KeySource: Duration] = [:]
    }

    /// The waits between the tries of one renewal.
    private static let pauses: [Duration] = [.milliseconds(200), .seconds(1)]
    /// The longest wait between two renewals, and the shortest between two refused keys.
    private static let longestRest = Duration.seconds(60)
    /// Error codes of stores that say that a key has ended before its time.
    private static let endings = ["ExpiredToken", "InvalidAccessKeyId", "InvalidToken"]

    private let sources: [ExactText: KeySource]
    private let timekeeper: any Timekeeper
    private let lend: Lending
    private let renewals = SharedTasks<KeySource, Loan>()
    private let state = Locked(State())

    /// The keys of `origins`; nothing is asked for before it is needed.
    init(of origins: Origins, timekeeper: any Timekeeper, lending lend: @escaping Lending) {
        sources = Dictionary(
            origins.all.compactMap { origin in
                guard case .signature(let source, _)? = origin.credentials else { return nil }
                return (ExactText(origin.name), source)
            }, uniquingKeysWith: { $1 })
        self.timekeeper = timekeeper
        self.lend = lend
    }

    /// The key for requests to the origin of this name; nil if they are not signed.
    ///
    /// - Throws: ``DownloadError/unreachable(_:)`` if none can be had, or `CancellationError`.
    func key(for originName: String?) async throws -> OriginCredentials.AccessKey? {
        guard let source = originName.flatMap({ sources[ExactText($0)] }) else { return nil }
        if case .fixed(let key) = source { return key }
        let wall = timekeeper.secondsSince1970
        let loan = state.withLock { $0.loans[source] }
        if let loan, wall < loan.renewsAt { return loan.key }
        // It goes on when no request waits for it any more.
        if !renewals.contains(source), state.withLock({ isRested($0, source) }) {
            Task.immediate { [self] in _ = try? await renewed(source) }
        }
        if let loan, wall < loan.lastsUntil { return loan.key }
        do {
            return try await renewed(source).key
        } catch let failure as KeyFailure {
            throw DownloadError.unreachable("credentials: \(failure.detail)")
        }
    }

    /// Whether a store's error code says that a key is to be renewed.
    static func areOver(_ code: String) -> Bool { endings.contains(code) }

    /// The key that follows one that was refused; nil if there is none: keys of the settings stay, and the next key of
    /// a source that has just replaced one is no better.
    ///
    /// - Throws: As ``key(for:)``.
    func key(
        for originName: String?, insteadOf refused: OriginCredentials.AccessKey
    ) async throws -> OriginCredentials.AccessKey? {
        guard let source = originName.flatMap({ sources[ExactText($0)] }) else { return nil }
        let now = timekeeper.now
        state.withLock { state in
            guard state.loans[source]?.key == refused,
                state.replacements[source].map({ now - $0 >= Self.longestRest }) ?? true
            else { return }
            state.replacements[source] = now
            state.loans[source] = nil
        }
        guard let next = try await key(for: originName), next != refused else { return nil }
        return next
    }

    /// The result of the renewal that is under way, or of a new one.
    private func renewed(_ source: KeySource) async throws -> Loan {
        try await renewals.value(
            for: source,
            cached: {
                state.withLock { state in
                    state.loans[source].flatMap { timekeeper.secondsSince1970 < $0.renewsAt ? $0 : nil }
                }
            }, operation: { [self] in try await renew(source) }
        ).value
    }

    private func renew(_ source: KeySource) async throws -> Loan {
        if let earlier = state.withLock({ isRested($0, source) ? nil : $0.failures[source]?.failure }) { throw earlier }
        var pauses = Self.pauses.makeIterator()
        while true {
            do {
                let loan = try await loan(from: source)
                state.withLock { state in
                    state.loans[source] = loan
                    state.failures[source] = nil
                }
                return loan
            } catch let failure as KeyFailure {
                if !failure.isLasting, let pause = pauses.next() {
                    try await timekeeper.sleep(until: timekeeper.now + pause)
                    continue
                }
                state.withLock { state in
                    let count = (state.failures[source]?.count ?? 0) + 1
                    let rest = min(Self.longestRest, .seconds(1 << min(count, 6)))
                    state.failures[source] = (failure, count, timekeeper.now + rest)
                }
                throw failure
            }
        }
    }

    private func isRested(_ state: State, _ source: KeySource) -> Bool {
        state.failures[source].map { timekeeper.now >= $0.until } ?? true
    }

    /// A key that the source lends now; it is asked on a thread of its own.
    private func loan(from source: KeySource) async throws -> Loan {
        let now = timekeeper.secondsSince1970
        let answer: Result<OriginCredentials.AccessKey, KeyFailure>? = await WorkThread.value(named: "credentials") {
            [lend] in Result { () throws(KeyFailure) in try lend(source, now) }
        }
        guard let answer else { throw KeyFailure(detail: "no thread", isLasting: false) }
        return Loan(try answer.get(), at: timekeeper.secondsSince1970)
    }
}
