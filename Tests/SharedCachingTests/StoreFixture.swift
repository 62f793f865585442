import Coordination
import Memory
import Telemetry
import TestSupport
import Testing

@testable import SharedCaching

/// An instance's store on a fake server; records received purges.
final class StoreFixture: Sendable {
    let store: SharedStore
    let log = LinesSink()
    private let heard = Locked<[String]>([])
    private let purges = EventCounter()
    private let reached = Locked<[UInt8]?>(nil)
    /// Counts gaps with unknown purges.
    let gaps = EventCounter()

    /// The time limits suit a loaded machine unless the test changes them.
    init(
        _ server: FakeRedis, url: String? = nil, position: [UInt8]? = nil,
        _ configure: (inout SharedCacheConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = SharedCacheConfiguration(address: try #require(SharedCacheAddress(url ?? server.url)))
        configuration.store.timeout = .queueTimeout
        configuration.store.interval = .milliseconds(20)
        configure(&configuration)
        store = try SharedStore(
            configuration, logger: Logger(level: .debug, sink: log), timekeeper: SystemTimekeeper())
        try store.start(
            PurgeHandlers { [heard, purges] purge in
                heard.withLock { $0.append(purge.words) }
                purges.increment()
            } onGap: { [gaps] in
                gaps.increment()
            } onPosition: { [reached] position in
                reached.withLock { $0 = position }
            }, position: position)
    }

    deinit { Task { [store] in await store.shutDown(timeLimit: .zero) } }

    /// The position up to which the log has been read.
    var position: [UInt8]? { reached.withLock { $0 } }

    /// The received purges, in order.
    var heardPurges: [String] { heard.withLock { $0 } }

    /// Waits until this number of purges has been received.
    func heard(_ count: Int) async { await purges.reached(count) }

    /// Waits until the server is in this state.
    func state(_ state: StoreHealth.State = .up) async throws {
        try #require(await eventually { self.store.statistics.state == state.rawValue })
    }

    /// The server has no generations for the test source.
    struct NoGenerations: Error {}

    /// The generations of the test source; creates them if there are none.
    func begin() async throws -> SharedGenerations {
        let lookUp = await store.value(for: .test, of: [.test], createsGenerations: true, allowance: WaitBudget())
        guard let generations = lookUp.generations?.first else { throw NoGenerations() }
        return generations
    }

    /// Writes the test value and waits until the server has it.
    func write(_ text: String = "value", under generations: SharedGenerations) async throws {
        #expect(store.store(.test(text), for: .test, of: [.test], under: [generations], seconds: 60))
        try #require(await eventually { self.store.statistics.values.bytes == 0 })
    }

    /// Looks up the test value.
    func look(_ allowance: WaitBudget = WaitBudget()) async -> SharedLookup {
        await store.value(for: .test, of: [.test], allowance: allowance)
    }

    /// The text of the test value; nil if it is not found.
    func text() async -> String? {
        await look().value.map { String(decoding: $0.body.array, as: UTF8.self) }
    }
}

extension Duration {
    /// A long timeout, because other processes may use all cores.
    static let queueTimeout = Duration.seconds(40)
}

extension PurgeNotice {
    /// The purge of one source.
    init?(_ source: SharedSource, name: String) {
        guard let named = NamedSource(source, name: name) else { return nil }
        self.init(.sources([named]))
    }

    /// Names of its sources, its tag, or `*` for everything.
    var name: String { subject.words }
}

extension PurgeNotice.Subject {
    fileprivate var words: String {
        switch self {
        case .sources(let sources): sources.map(\.name).sorted().joined(separator: " ")
        case .tag(let tag): "#" + tag.text
        case .everything: "*"
        }
    }
}

extension SharedStore {
    func forget(_ source: SharedSource) { forget([source]) }

    /// Purges one source.
    func purge(_ source: SharedSource, name: String) async -> RemovalState {
        guard let named = NamedSource(source, name: name) else { return .rejected }
        return await purge([named])
    }
}

extension SharedKey {
    static let test = SharedKey(of: Array("a result".utf8))
}

extension SharedSource {
    static let test = SharedSource(of: Array("http://example.com/a".utf8))
}

extension CacheValue {
    static func test(_ text: String) -> CacheValue {
        CacheValue(head: [1, 2, 3], body: SharedBytes(Array(text.utf8)))
    }
}

/// Collects the messages of log lines.
final class LinesSink: LogSink {
    private let lines = Watched<[String]>([])

    var messages: [String] { lines.withLock { $0 } }

    func reached(_ condition: @escaping @Sendable ([String]) -> Bool) async { await lines.reached(condition) }

    func write(_ line: LogLine) { lines.withLock { $0.append("\(line.message)") } }
}
