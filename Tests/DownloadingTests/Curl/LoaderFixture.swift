import Coordination
import Downloading
import HTTPTypes
import TestSupport
import Testing
import Text

/// An origin and a loader that may connect to it.
struct LoaderFixture {
    let origin: FakeOrigin
    let loader: CurlLoader
    let configuration: DownloadConfiguration
    let rules: DownloadRules

    /// By default the settings allow the loopback network.
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

    /// Loads a path of the origin, optionally under another host name.
    @discardableResult
    func load(
        _ path: String, host: String? = nil, progress: TransferProgress = TransferProgress()
    ) async throws -> ReceivedSource {
        try await load(url: origin.url(path, host: host), progress: progress)
    }

    @discardableResult
    func load(url: String, progress: TransferProgress = TransferProgress()) async throws -> ReceivedSource {
        guard case .source(let source) = try await loader.load(request(url), progress: progress) else {
            throw UnexpectedConfirmation()
        }
        return source
    }

    func request(
        _ url: String, by rules: DownloadRules? = nil, condition: SourceCondition? = nil
    ) throws -> TransferRequest {
        TransferRequest(identity: try (rules ?? self.rules).identity(of: ExactText(url)), condition: condition)
    }

    func downloader(
        cache: any SourceCaching = StubCache(), budget: MemoryBudget = MemoryBudget()
    ) -> ImageDownloader {
        ImageDownloader(
            rules: rules, loader: loader, cache: cache, timekeeper: SystemTimekeeper(), budget: budget)
    }
}

/// A 304 response to an unconditional request.
struct UnexpectedConfirmation: Error {}

/// Bytes without a short period.
func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

/// Ignores the text of the error.
func isProtocolError(_ error: any Error) -> Bool {
    switch error as? DownloadError {
    case .protocolError, .unexpectedResponse, .undecodable: true
    default: false
    }
}

/// Ignores the text of the error.
func hasNoAddress(_ error: any Error) -> Bool {
    if case .noAddress? = error as? DownloadError { true } else { false }
}

/// Whether a rule with this prefix forbids the source.
func isDenied(_ error: any Error, by rule: String) -> Bool {
    if case .sourceNotAllowed(let text)? = error as? DownloadError { text.hasPrefix(rule) } else { false }
}

/// Ignores the text of the error.
func isUnreachable(_ error: any Error) -> Bool {
    if case .unreachable? = error as? DownloadError { true } else { false }
}
