import Coordination
import Downloading
import TestSupport
import Testing
import Text

/// An origin and a loader that may reach it.
struct LoaderFixture {
    let origin: FakeOrigin
    let loader: CurlLoader
    let configuration: DownloadConfiguration
    let rules: DownloadRules

    /// A loader of these settings; by default the loopback network is open.
    init(
        timekeeper: any Timekeeper = SystemTimekeeper(), _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = DownloadConfiguration()
        configuration.allowedNetworks = [try #require(AddressNetwork("127.0.0.0/8"))]
        change(&configuration)
        self.configuration = configuration
        rules = DownloadRules(configuration)
        origin = try FakeOrigin()
        loader = try CurlLoader(configuration: configuration, timekeeper: timekeeper)
    }

    /// Loads a path of the origin, under another host's name where one is given.
    @discardableResult
    func load(
        _ path: String, host: String? = nil, progress: TransferProgress = TransferProgress()
    ) async throws -> Source {
        try await load(url: origin.url(path, host: host), progress: progress)
    }

    /// Loads a URL.
    @discardableResult
    func load(url: String, progress: TransferProgress = TransferProgress()) async throws -> Source {
        guard case .source(let source) = try await loader.load(request(url), progress: progress) else {
            throw UnexpectedConfirmation()
        }
        return source
    }

    /// The request for a URL.
    func request(
        _ url: String, by rules: DownloadRules? = nil, condition: SourceCondition? = nil
    ) throws -> TransferRequest {
        TransferRequest(identity: try (rules ?? self.rules).identity(of: ExactText(url)), condition: condition)
    }

    /// A downloader over the loader.
    func downloader(
        cache: any SourceCaching = StubCache(), budget: MemoryBudget = MemoryBudget()
    ) -> ImageDownloader {
        ImageDownloader(
            rules: rules, loader: loader, cache: cache, timekeeper: SystemTimekeeper(), budget: budget)
    }
}

/// A 304 to a question that was none.
struct UnexpectedConfirmation: Error {}

/// Bytes that differ from place to place.
func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

/// Whether an error is of a kind, its text left aside.
func isProtocolError(_ error: any Error) -> Bool {
    switch error as? DownloadError {
    case .protocolError, .unexpectedResponse, .undecodable: true
    default: false
    }
}

/// Whether an error is of a kind, its text left aside.
func hasNoAddress(_ error: any Error) -> Bool {
    if case .noAddress? = error as? DownloadError { true } else { false }
}

/// Whether an error says that a rule forbids the source.
func isDenied(_ error: any Error, by rule: String) -> Bool {
    if case .sourceNotAllowed(let text)? = error as? DownloadError { text.hasPrefix(rule) } else { false }
}

/// Whether an error is of a kind, its text left aside.
func isUnreachable(_ error: any Error) -> Bool {
    if case .unreachable? = error as? DownloadError { true } else { false }
}
