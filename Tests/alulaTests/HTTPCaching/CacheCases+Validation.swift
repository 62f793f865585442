/// Stale copies, and the effects of a 304.
extension CacheCase {
    private static let lastModified = Value.text("Wed, 01 Jan 2020 00:00:00 GMT")

    static let stale: [CacheCase] =
        [("must-revalidate", 502), ("proxy-revalidate", 502), ("no-cache", 502), ("s-maxage=2", 502)].map {
            CacheCase(
                "stale-close-\($0)",
                [
                    Exchange(fields: [("Cache-Control", .text("max-age=2, \($0)"))]),
                    Exchange(isCut: true, answer: $1),
                ])
        } + [
            CacheCase(
                "stale-while-revalidate-window",
                [
                    Exchange(
                        fields: [
                            ("Cache-Control", "max-age=1, stale-while-revalidate=4"), ("ETag", "\"abc\""),
                        ], pause: 6),
                    Exchange(fields: [("Cache-Control", "no-cache"), ("ETag", "\"def\"")]),
                ]),
            stale("stale-close", "max-age=2", Exchange(isCut: true)),
            stale("stale-503", "max-age=2", Exchange(status: 503)),
            stale("stale-sie-close", "max-age=2, stale-if-error=60", Exchange(isCut: true)),
            stale("stale-sie-503", "max-age=2, stale-if-error=60", Exchange(status: 503)),
        ]

    /// The origin is contacted and fails, and the stale copy is served.
    private static func stale(_ name: String, _ control: String, _ failing: Exchange) -> CacheCase {
        CacheCase(name, [Exchange(fields: [("Cache-Control", .text(control))]), failing])
    }

    static let validation: [CacheCase] = [
        CacheCase(
            "conditional-etag-strong-generate", ["Cache-Control": "max-age=2", "ETag": "\"abcdef\""], .validated),
        CacheCase(
            "conditional-etag-weak-generate-weak", ["Cache-Control": "max-age=2", "ETag": "W/\"abcdef\""], .validated),
        CacheCase("304-lm-use-stored", ["Cache-Control": "max-age=2", "Last-Modified": lastModified], .validated),
        update(
            "304-etag-update-response-Cache-Control", ("Cache-Control", "max-age=1"), ("Cache-Control", "max-age=3600")),
        update(
            "304-etag-update-response-Expires", ("Expires", -1), ("Expires", "Mon, 11 Jan 2038 11:11:11 GMT")),
    ]

    /// A 304 confirms a stale response and replaces its freshness.
    private static func update(_ name: String, _ old: (String, Value), _ new: (String, Value)) -> CacheCase {
        CacheCase(
            name,
            [
                Exchange(fields: [("Date", 0), ("ETag", "\"abc\""), old]),
                Exchange(fields: [("Date", 0), ("ETag", "\"abc\""), new], expectation: .validated, pause: 600),
                Exchange(expectation: .cached, age: 600),
            ])
    }
}
