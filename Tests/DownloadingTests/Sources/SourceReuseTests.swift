import HTTPTypes
import Testing

@testable import Downloading

/// Reuse of stored sources (RFC 9111 sections 4.2.4 and 5.2.1, RFC 5861).
struct SourceReuseTests {
    private static let received = 1_800_000_000

    private static func freshness(_ control: String, vary: String? = nil) -> SourceFreshness {
        var fields: HTTPFields = [.cacheControl: control]
        fields[.vary] = vary
        let date = HTTPDate(secondsSince1970: received)
        return SourceFreshness(status: 200, headerFields: fields, requestedAt: date, receivedAt: date)
    }

    private static func reuse(
        _ control: String, after seconds: Int, request: String? = nil, whileRevalidating: Int = 0
    ) -> SourceReuse {
        var allowances = StaleAllowances()
        allowances.whileRevalidating = whileRevalidating
        return freshness(control).reuse(
            at: received + seconds, for: RequestCacheControl(request), staleAllowances: allowances)
    }

    @Test(
        arguments: [
            ("max-age=100", 99, nil, .usable),
            ("max-age=100", 100, nil, .needsValidation),
            ("no-cache, max-age=100", 0, nil, .needsValidation),
            ("no-store", 0, nil, .needsValidation),
            ("private, max-age=100", 0, nil, .needsValidation),
            ("max-age=100", 0, "no-cache", .needsValidation),
            ("max-age=100", 0, "no-store", .needsValidation),
            ("max-age=100", 0, "max-age=0", .needsValidation),
            ("max-age=100", 10, "max-age=10", .usable),
            ("max-age=100", 11, "max-age=10", .needsValidation),
            ("max-age=100", 11, "max-age=many", .needsValidation),
            ("max-age=100", 60, "min-fresh=40", .usable),
            ("max-age=100", 61, "min-fresh=40", .needsValidation),
            ("max-age=100", 140, "max-stale=40", .usable),
            ("max-age=100", 141, "max-stale=40", .needsValidation),
            ("max-age=100", 1 << 40, "max-stale", .usable),
            ("max-age=100", 141, "max-stale=40, only-if-cached", .needsValidation),
            ("max-age=100", 120, "max-stale=40, max-age=110", .needsValidation),
            ("max-age=100", 120, "max-stale=40, min-fresh=1", .needsValidation),
            ("max-age=100, must-revalidate", 101, "max-stale", .needsValidation),
            ("max-age=100, proxy-revalidate", 101, "max-stale", .needsValidation),
            ("s-maxage=100", 101, "max-stale", .needsValidation),
            ("no-cache", 1, "max-stale", .needsValidation),
        ] as [(String, Int, String?, SourceReuse)])
    func `directives of source and request are combined`(
        control: String, seconds: Int, request: String?, reuse: SourceReuse
    ) {
        #expect(Self.reuse(control, after: seconds, request: request) == reuse)
    }

    @Test(
        arguments: [
            ("max-age=100, stale-while-revalidate=20", 0, 119, .usableWhileRevalidating),
            ("max-age=100, stale-while-revalidate=20", 0, 120, .needsValidation),
            ("max-age=100, stale-while-revalidate=20", 90, 120, .needsValidation),
            ("max-age=100", 30, 129, .usableWhileRevalidating),
            ("max-age=100", 30, 130, .needsValidation),
            ("max-age=100, must-revalidate", 30, 110, .needsValidation),
            ("max-age=100, proxy-revalidate", 30, 110, .needsValidation),
            ("s-maxage=100", 30, 110, .needsValidation),
            ("s-maxage=100, stale-while-revalidate=20", 0, 110, .needsValidation),
            ("no-cache, stale-while-revalidate=20", 0, 1, .needsValidation),
        ] as [(String, Int, Int, SourceReuse)])
    func `the source, else the setting, decides on stale use during validation, unless it is forbidden`(
        control: String, setting: Int, seconds: Int, reuse: SourceReuse
    ) {
        #expect(Self.reuse(control, after: seconds, whileRevalidating: setting) == reuse)
    }

    @Test func `a caller's limits are not extended by stale use during validation`() {
        let control = "max-age=100, stale-while-revalidate=50"
        #expect(Self.reuse(control, after: 110, request: "max-age=105") == .needsValidation)
        #expect(Self.reuse(control, after: 110, request: "min-fresh=1") == .needsValidation)
        #expect(Self.reuse(control, after: 110, request: "no-cache") == .needsValidation)
    }

    @Test(
        arguments: [
            ("max-age=100", nil, 199, true),
            ("max-age=100", nil, 200, false),
            ("max-age=100, stale-if-error=10", nil, 109, true),
            ("max-age=100, stale-if-error=10", nil, 110, false),
            ("max-age=100, stale-if-error=900", nil, 999, true),
            ("max-age=100", nil, 50, true),
            ("max-age=100, must-revalidate", nil, 101, false),
            ("max-age=100, proxy-revalidate", nil, 101, false),
            ("s-maxage=100", nil, 99, true),
            ("s-maxage=100", nil, 101, false),
            ("no-cache", nil, 1, false),
            ("private", nil, 1, false),
            ("max-age=100", "no-cache", 101, false),
            ("max-age=100", "no-store", 101, false),
            ("max-age=100", "max-age=1000", 101, false),
            ("max-age=100", "min-fresh=1", 101, false),
            ("max-age=100", "max-stale=1", 150, true),
        ] as [(String, String?, Int, Bool)])
    func `the source, else the setting, decides on stale use while the origin fails, unless it is forbidden`(
        control: String, request: String?, seconds: Int, isUsable: Bool
    ) {
        var allowances = StaleAllowances()
        allowances.ifError = 100
        let freshness = Self.freshness(control)
        let now = Self.received + seconds
        #expect(
            freshness.isUsableOnError(at: now, for: RequestCacheControl(request), staleAllowances: allowances)
                == isUsable)
    }

    @Test func `a source that varies by anything needs validation, fresh or stale`() {
        let freshness = Self.freshness("max-age=100", vary: "*")
        let request = RequestCacheControl("max-stale")
        #expect(freshness.reuse(at: Self.received, for: .none, staleAllowances: StaleAllowances()) == .needsValidation)
        #expect(
            freshness.reuse(at: Self.received, for: request, staleAllowances: StaleAllowances()) == .needsValidation)
        #expect(!freshness.isUsableOnError(at: Self.received, for: .none, staleAllowances: StaleAllowances()))
    }
}
