/// Freshness and age: `Cache-Control`, `Expires`, `Age`, heuristics, and their parsing.
extension CacheCase {
    static let ageParsing: [CacheCase] =
        [
            ("age-parse-nonnumeric", "abc", .cached), ("age-parse-negative", "-7200", .cached),
            ("age-parse-float", "7200.0", .cached), ("age-parse-large-minus-one", "2147483647", .notCached),
            ("age-parse-large", "2147483648", .notCached), ("age-parse-larger", "2147483649", .notCached),
            ("age-parse-suffix", "7200, 0", .notCached), ("age-parse-prefix", "0, 7200", .cached),
            ("age-parse-dup-0", "0, 0", .cached),
        ].map { (name: String, age: Value, expectation: Expectation) in
            CacheCase(name, ["Date": 0, "Cache-Control": "max-age=3600", "Age": age], expectation)
        } + [
            CacheCase(
                "age-parse-suffix-twoline", ["Date": 0, "Cache-Control": "max-age=3600", "Age": "7200", "Age": "0"],
                .notCached),
            CacheCase(
                "age-parse-prefix-twoline", ["Date": 0, "Cache-Control": "max-age=3600", "Age": "0", "Age": "7200"],
                .cached),
            CacheCase(
                "age-parse-dup-0-twoline", ["Date": 0, "Cache-Control": "max-age=3600", "Age": "0", "Age": "0"], .cached
            ),
            CacheCase(
                "age-parse-dup-old", ["Date": 0, "Cache-Control": "max-age=10000", "Age": "3600", "Age": "3600"],
                .cached),
        ]

    static let cacheControlFreshness: [CacheCase] = [
        CacheCase("freshness-max-age", ["Cache-Control": "max-age=3600"], .cached),
        CacheCase("freshness-max-age-stale", ["Cache-Control": "max-age=2", "Date": 0], .notCached),
        CacheCase("freshness-max-age-0", ["Cache-Control": "max-age=0"], .notCached),
        CacheCase("freshness-max-age-max-minus-1", ["Cache-Control": "max-age=2147483647"], .cached),
        CacheCase("freshness-max-age-max", ["Cache-Control": "max-age=2147483648"], .cached),
        CacheCase("freshness-max-age-max-plus-1", ["Cache-Control": "max-age=2147483649"], .cached),
        CacheCase("freshness-max-age-max-plus", ["Cache-Control": "max-age=99999999999"], .cached),
        CacheCase("freshness-max-age-age", ["Date": 0, "Cache-Control": "max-age=3600", "Age": "7200"], .notCached),
        CacheCase("freshness-max-age-date", ["Date": -7_200, "Cache-Control": "max-age=3600"], .notCached),
        CacheCase("freshness-max-age-expires", ["Cache-Control": "max-age=3600", "Expires": -7_200], .cached),
        CacheCase("freshness-max-age-expires-invalid", ["Cache-Control": "max-age=3600", "Expires": "0"], .cached),
        CacheCase("freshness-max-age-0-expires", ["Cache-Control": "max-age=0", "Expires": 3_600], .notCached),
        CacheCase("freshness-max-age-extension", ["Cache-Control": "foobar, max-age=3600"], .cached),
        CacheCase("freshness-max-age-case-insenstive", ["Cache-Control": "MaX-aGe=3600"], .cached),
        CacheCase("freshness-max-age-negative", ["Cache-Control": "max-age=-3600"], .notCached),
        CacheCase("freshness-s-maxage-shared", ["Cache-Control": "s-maxage=3600"], .cached),
        CacheCase(
            "freshness-max-age-s-maxage-shared-longer", ["Cache-Control": "max-age=3600, s-maxage=1"], .notCached),
        CacheCase(
            "freshness-max-age-s-maxage-shared-longer-reversed", ["Cache-Control": "s-maxage=1, max-age=3600"],
            .notCached),
        CacheCase(
            "freshness-max-age-s-maxage-shared-longer-multiple",
            ["Cache-Control": "max-age=3600", "Cache-Control": "s-maxage=1"], .notCached),
        CacheCase("freshness-max-age-s-maxage-shared-shorter", ["Cache-Control": "max-age=1, s-maxage=3600"], .cached),
        CacheCase(
            "freshness-max-age-s-maxage-shared-shorter-expires",
            ["Expires": -10, "Cache-Control": "max-age=0, s-maxage=3600"], .cached),
    ]

    static let cacheControlParsing: [CacheCase] = [
        ("freshness-max-age-quoted", "max-age=\"3600\"", .cached),
        ("freshness-max-age-ignore-quoted", "extension=\"max-age=3600\", max-age=1", .notCached),
        ("freshness-max-age-ignore-quoted-rev", "max-age=1, extension=\"max-age=3600\"", .notCached),
        ("freshness-max-age-two-fresh-stale-sameline", "max-age=1800, max-age=1", .notCached),
        ("freshness-max-age-two-stale-fresh-sameline", "max-age=1, max-age=1800", .notCached),
        ("freshness-max-age-leading-zero", "max-age=003600", .cached),
        ("freshness-max-age-single-quoted", "max-age='3600'", .notCached),
        ("freshness-max-age-decimal-five", "max-age=3600.5", .notCached),
        ("freshness-max-age-a100", "max-age=a3600", .notCached),
        ("freshness-max-age-100a", "max-age=3600a", .notCached),
    ].map { (name: String, control: Value, expectation: Expectation) in
        CacheCase(name, ["Cache-Control": control], expectation)
    }

    static let expires: [CacheCase] =
        [
            CacheCase("freshness-expires-future", ["Expires": 2_592_000, "Date": 0], .cached),
            CacheCase("freshness-expires-past", ["Expires": -2_592_000, "Date": 0], .notCached),
            CacheCase("freshness-expires-present", ["Expires": 0, "Date": 0], .notCached),
            CacheCase("freshness-expires-old-date", ["Expires": 300, "Date": 400], .notCached),
            CacheCase("freshness-expires-invalid", ["Expires": "0", "Date": 0], .notCached),
            CacheCase("freshness-expires-invalid-date", ["Date": "foo", "Expires": 10], .cached),
            CacheCase("freshness-expires-age-slow-date", ["Date": -10, "Expires": 10, "Age": "25"], .notCached),
            CacheCase("freshness-expires-age-fast-date", ["Date": 10, "Expires": 20, "Age": "15"], .notCached),
        ]
        + [
            ("freshness-expires-32bit", "Tue, 19 Jan 2038 14:14:08 GMT", .cached),
            ("freshness-expires-far-future", "Sun, 21 Nov 2286 04:46:39 GMT", .cached),
            ("freshness-expires-rfc850", "Thursday, 18-Aug-50 02:01:18 GMT", .cached),
            ("freshness-expires-ansi-c", "Thu Aug  8 02:01:18 2050", .cached),
            ("freshness-expires-wrong-case-weekday", "THU, 18 Aug 2050 02:01:18 GMT", .cached),
            ("freshness-expires-wrong-case-month", "Thu, 18 AUG 2050 02:01:18 GMT", .cached),
            ("freshness-expires-wrong-case-tz", "Thu, 18 Aug 2050 02:01:18 gMT", .cached),
            ("freshness-expires-invalid-utc", "Thu, 18 Aug 2050 02:01:18 UTC", .notCached),
            ("freshness-expires-invalid-aest", "Thu, 18 Aug 2050 02:01:18 AEST", .notCached),
            ("freshness-expires-invalid-2-digit-year", "Thu, 18 Aug 50 02:01:18 GMT", .notCached),
            ("freshness-expires-invalid-no-comma", "Thu 18 Aug 2050 02:01:18 GMT", .notCached),
            ("freshness-expires-invalid-multiple-spaces", "Thu, 18  Aug  2050 02:01:18 GMT", .notCached),
            ("freshness-expires-invalid-date-dashes", "Thu, 18-Aug-2050 02:01:18 GMT", .notCached),
            ("freshness-expires-invalid-time-periods", "Thu, 18 Aug 2050 02.01.18 GMT", .notCached),
            ("freshness-expires-invalid-1-digit-hour", "Thu, 18 Aug 2050 2:01:18 GMT", .notCached),
        ].map { (name: String, expires: Value, expectation: Expectation) in
            CacheCase(name, ["Expires": expires, "Date": 0], expectation)
        } + [
            CacheCase(
                "freshness-expires-invalid-multiple-lines",
                [
                    "Expires": "Thu, 18 Aug 2050 2:01:18 GMT", "Expires": "Thu, 18 Aug 2050 2:01:19 GMT", "Date": 0,
                ], .notCached)
        ]

    /// Error responses are never used as images; failures are cached for at most a minute, which has passed here.
    static let heuristics: [CacheCase] =
        [(200, .cached), (203, .cached), (201, .notCached), (202, .notCached)].map {
            (status: Int, expectation: Expectation) in
            CacheCase(
                "heuristic-\(status)", status: status, ["Last-Modified": -86_400, "Date": 0], expectation, pause: 0)
        }
        + [(403, 502), (404, 404), (410, 404), (501, 502), (502, 502), (503, 502), (504, 502), (599, 502)].map {
            CacheCase(
                "heuristic-\($0)", status: $0, ["Last-Modified": -86_400, "Date": 0], .notCached, answer: $1, pause: 60)
        }
        + [(5, .notCached), (60, .cached), (3_600, .cached), (86_400, .cached)].map {
            (seconds: Int, expectation: Expectation) in
            CacheCase("heuristic-delta-\(seconds)", ["Last-Modified": .date(-seconds), "Date": 0], expectation)
        }

    static let age: [CacheCase] = [
        CacheCase("other-age-gen", ["Cache-Control": "max-age=3600", "Date": 0], .cached, age: 3),
        CacheCase("other-age-update-expires", ["Expires": 2_592_000, "Date": 0, "Age": "30"], .cached, age: 33),
        CacheCase(
            "other-age-update-max-age", ["Cache-Control": "max-age=3600", "Date": 0, "Age": "30"], .cached, age: 33),
    ]
}
