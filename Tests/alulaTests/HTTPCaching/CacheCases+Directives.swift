/// Directives on storage and revalidation, and directives of clients.
extension CacheCase {
    static let responseDirectives: [CacheCase] = [
        CacheCase("cc-resp-private-shared", ["Cache-Control": "private, max-age=3600"], .notCached),
        CacheCase("cc-resp-no-store", ["Cache-Control": "no-store"], .notCached),
        CacheCase("cc-resp-no-store-case-insensitive", ["Cache-Control": "No-StOrE"], .notCached),
        CacheCase(
            "cc-resp-no-store-fresh", ["Cache-Control": "max-age=10000, no-store", "Expires": 10_000, "Date": 0],
            .notCached),
        CacheCase(
            "cc-resp-no-store-old-new",
            [
                Exchange(fields: [("Cache-Control", "max-age=10000"), ("Date", 0)]),
                Exchange(fields: [("Cache-Control", "no-store")], expectation: .cached),
                Exchange(expectation: .cached),
            ]),
        CacheCase(
            "cc-resp-no-cache", ["Cache-Control": "max-age=10000, no-cache", "Expires": 10_000, "Date": 0], .notCached),
        CacheCase("cc-resp-no-cache-case-insensitive", ["Cache-Control": "max-age=10000, No-CaChE"], .notCached),
        CacheCase("cc-resp-no-cache-revalidate", ["Cache-Control": "no-cache", "ETag": "\"abcd\""], .validated),
        CacheCase(
            "cc-resp-no-cache-revalidate-fresh",
            ["Cache-Control": "max-age=10000, no-cache", "Expires": 10_000, "Date": 0, "ETag": "\"abcd\""], .validated),
        CacheCase(
            "cc-resp-must-revalidate-fresh",
            ["Cache-Control": "max-age=10000, must-revalidate", "ETag": "\"abcd\""], .cached),
        CacheCase(
            "cc-resp-must-revalidate-stale", ["Cache-Control": "max-age=2, must-revalidate", "ETag": "\"abcd\""],
            .validated),
        CacheCase("cc-resp-immutable-fresh", ["Cache-Control": "max-age=10000, immutable"], .cached),
        CacheCase(
            "cc-resp-immutable-stale", ["Cache-Control": "max-age=2, immutable", "ETag": "\"abcd\""], .validated),
        CacheCase("pragma-response-no-cache", ["Cache-Control": "max-age=3600", "Pragma": "no-cache"], .cached),
        CacheCase("pragma-response-extension", ["Cache-Control": "max-age=3600", "Pragma": "foo"], .cached),
        CacheCase("other-set-cookie", ["Cache-Control": "max-age=3600", "Set-Cookie": "a=b"], .cached),
    ]

    static let statuses: [CacheCase] =
        [200, 201, 202, 203, 226].flatMap { status in
            [
                CacheCase("status-\(status)-fresh", status: status, ["Cache-Control": "max-age=100000"], .cached),
                CacheCase(
                    "status-\(status)-stale", status: status,
                    ["Expires": -5_000, "Last-Modified": -100_000, "Date": 0], .notCached),
            ]
        }
        + [
            (299, 502), (400, 502), (404, 404), (410, 404), (499, 502), (500, 502), (502, 502), (503, 502), (504, 502),
            (599, 502),
        ]
        .flatMap { status, answer in
            [
                CacheCase(
                    "status-\(status)-fresh", status: status, ["Cache-Control": "max-age=100000"], .cached,
                    answer: answer),
                CacheCase(
                    "status-\(status)-stale", status: status,
                    ["Expires": -5_000, "Last-Modified": -100_000, "Date": 0], .notCached, answer: answer),
            ]
        } + [
            CacheCase(
                "status-599-must-understand", status: 599, ["Cache-Control": "max-age=3600, no-store, must-understand"],
                .notCached, answer: 502),
            CacheCase(
                "status-200-must-understand", ["Cache-Control": "max-age=3600, no-store, must-understand"], .cached),
        ]

    static let vary: [CacheCase] =
        [
            ("vary-star", ["*"]), ("vary-syntax-star-star", ["*, *"]), ("vary-syntax-star-star-lines", ["*", "*"]),
            ("vary-syntax-empty-star", [", *"]), ("vary-syntax-empty-star-lines", ["", "*"]),
            ("vary-syntax-star-foo", ["*, Foo"]), ("vary-syntax-foo-star", ["Foo, *"]),
        ].map { name, values in
            let fields: [(String, Value)] =
                [("Cache-Control", "max-age=5000"), ("Date", 0)] + values.map { ("Vary", .text($0)) }
            return CacheCase(name, [Exchange(fields: fields), Exchange(fields: fields)])
        } + [
            CacheCase("vary-match", ["Cache-Control": "max-age=5000", "Vary": "Accept"], .cached),
            CacheCase("vary-3-omit", ["Cache-Control": "max-age=5000", "Vary": "Foo, Bar, Baz"], .cached),
        ]

    static let requestDirectives: [CacheCase] = [
        CacheCase("ccreq-ma0", ["Cache-Control": "max-age=100000"], .notCached, request: "max-age=0"),
        CacheCase("ccreq-ma1", ["Cache-Control": "max-age=100000"], .notCached, request: "max-age=1"),
        CacheCase(
            "ccreq-magreaterage", ["Cache-Control": "max-age=100000", "Age": "1800"], .notCached, request: "max-age=600"
        ),
        CacheCase("ccreq-max-stale", ["Cache-Control": "max-age=2"], .cached, request: "max-stale=1000"),
        CacheCase(
            "ccreq-max-stale-age", ["Cache-Control": "max-age=1500", "Age": "2000"], .cached, request: "max-stale=1000"),
        CacheCase("ccreq-min-fresh", ["Cache-Control": "max-age=1500"], .notCached, request: "min-fresh=2000"),
        CacheCase(
            "ccreq-min-fresh-age", ["Cache-Control": "max-age=1500", "Age": "1000"], .notCached,
            request: "min-fresh=1000"),
        CacheCase("ccreq-no-cache", ["Cache-Control": "max-age=3600"], .notCached, request: "no-cache"),
        CacheCase(
            "ccreq-no-cache-lm", ["Cache-Control": "max-age=3600", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
            .validated, request: "no-cache"),
        CacheCase(
            "ccreq-no-cache-etag", ["Cache-Control": "max-age=3600", "ETag": "\"abc\""], .validated,
            request: "no-cache"),
        CacheCase("ccreq-no-store", ["Cache-Control": "max-age=100000"], .notCached, request: "no-store"),
        CacheCase("ccreq-oic", [Exchange(request: "only-if-cached", expectation: .cached, answer: 504)]),
    ]
}
