import CCurl
import Testing

@testable import Downloading

struct CurlErrorTests {
    /// All errors of this version of libcurl.
    private static let codes = (1..<CURL_LAST.rawValue).map { CURLcode(rawValue: $0) }

    /// Errors caused by this machine, or by a bug in Alula, before a request is sent.
    private static let own: Set<UInt32> = [2, 3, 4, 27, 42, 43, 45, 48, 49, 81, 89, 93, 99]
    private static let secrecy: Set<UInt32> = [35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98]

    @Test(arguments: codes.map(\.rawValue))
    func `a result has a meaning before and after the request is sent`(code: UInt32) {
        func kind(_ stage: DownloadError.Stage) -> String {
            "\(DownloadError(CURLcode(rawValue: code), at: stage))".prefix { $0 != "(" }.description
        }
        let expected =
            switch code {
            case 28: ["timedOut", "timedOut", "timedOut"]
            case 63: ["tooLarge", "tooLarge", "tooLarge"]
            case 5, 6, 7, 52: ["unreachable", "unreachable", "unreachable"]
            case 55, 56: ["unreachable", "unreachable", "protocolError"]
            case _ where Self.secrecy.contains(code): ["tls", "tls", "tls"]
            case _ where Self.own.contains(code): ["internal", "protocolError", "protocolError"]
            default: ["protocolError", "protocolError", "protocolError"]
            }
        #expect(DownloadError.Stage.allCases.map(kind) == expected)
    }

    @Test func `no response of an origin is reported as an internal error`() {
        for code in Self.codes {
            for stage in [DownloadError.Stage.waiting, .receiving] {
                if case .internal = DownloadError(code, at: stage) { Issue.record("\(code) at \(stage)") }
            }
        }
    }
}
