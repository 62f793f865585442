import TestSupport

extension ScriptedOrigin {
    /// Responses other than plain images: errors, redirects, directives, and images in unusual framings.
    static func faults(_ origin: FakeOrigin) -> [(path: String, answer: FakeResponse)] {
        let jpeg = ImageFixture.jpeg.array
        let image = FakeResponse.image(jpeg)
        return [401, 403, 404, 410, 429, 500, 503, 204, 206, 304].map { ("/status/\($0)", .status($0)) }
            + framings(image, length: jpeg.count)
            + redirects(origin)
            + directives(image)
            + [
                ("/slow", image.delayed(by: .milliseconds(200))),
                ("/silence", .silence),
                ("/drip", image.dripping(8, every: .milliseconds(400))),
                ("/close", .closing),
                ("/reset", .reset),
                ("/html", .image(ImageFixture.text.array, type: "text/html")),
                ("/html-as-png", .image(ImageFixture.text.array, type: "image/png")),
                ("/no-body", .image([])),
                ("/zip", .image([0x50, 0x4B, 0x03, 0x04] + [UInt8](repeating: 0, count: 60), type: "application/zip")),
                ("/unnamed-type", FakeResponse(body: jpeg)),
                ("/other-type", .image(jpeg, type: "text/plain")),
                ("/status-with-image", FakeResponse(status: 404, fields: [("Content-Type", "image/jpeg")], body: jpeg)),
            ]
    }

    private static func framings(_ image: FakeResponse, length: Int) -> [(path: String, answer: FakeResponse)] {
        [
            ("/chunked", image.framed(by: .chunked)),
            ("/until-close", image.framed(by: .close)),
            ("/cut", image.cut(afterBytes: length / 2)),
            ("/cut-until-close", image.framed(by: .close).cut(afterBytes: length / 2)),
            ("/reset-in-body", image.reset(afterBytes: length / 2)),
            ("/huge-announced", image.with("Content-Length", "10000000000")),
            ("/two-lengths", image.with("Content-Length", "\(length)").with("Content-Length", "\(length + 1)")),
            ("/gzip", image.with("Content-Encoding", "gzip")),
            ("/bad-chunk", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")),
            ("/no-http", .raw("not a status line\r\n\r\n")),
        ]
    }

    private static func redirects(_ origin: FakeOrigin) -> [(path: String, answer: FakeResponse)] {
        [
            ("/redirect", .redirect(to: "/images/jpeg")),
            ("/redirect/absolute", .redirect(to: origin.url("/images/png"), status: 308)),
            ("/redirect/loop", .redirect(to: "/redirect/loop")),
            ("/redirect/denied", .redirect(to: "http://10.0.0.1/a.jpg")),
            ("/redirect/scheme", .redirect(to: "file:///etc/passwd")),
            ("/redirect/nowhere", FakeResponse(status: 302)),
        ]
    }

    private static func directives(_ image: FakeResponse) -> [(path: String, answer: FakeResponse)] {
        [
            ("/cached/private", image.with("Cache-Control", "private")),
            ("/cached/no-store", image.with("Cache-Control", "no-store")),
            ("/cached/no-cache", image.with("Cache-Control", "no-cache").with("ETag", "\"one\"")),
            (
                "/cached/max-age",
                image.with("Cache-Control", "max-age=600").with("ETag", "\"one\"")
                    .with("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
            ),
        ]
    }
}
