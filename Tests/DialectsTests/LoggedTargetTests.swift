import Crypto
import Testing

@testable import Dialects

struct LoggedTargetTests {
    private static let url = "https%3A%2F%2Fuser%3Apw%40example.com%2Fa.jpg%3Ftoken%3Dsecret"

    private func shown(_ target: String, by dialect: any Dialect) -> String {
        dialect.loggedTarget(RequestedTarget(target))
    }

    @Test(
        arguments: [
            ("/thumbnail?url=\(url)&w=300&format=webp&sig=abc", "/thumbnail?w=300&format=webp"),
            ("/thumbnail?w=300&mark=https%3A%2F%2Fexample.com%2Fm.png&tag=a%20b", "/thumbnail?w=300&tag=a%20b"),
            ("/thumbnail?w=300&mark=media:logo.png&key=2&mark=logo", "/thumbnail?w=300&mark=logo"),
            ("/thumbnail?url=https://example.com/a?token=1&secret=2&w=3", "/thumbnail"),
            ("/thumbnail?w=%ff", "/thumbnail"), ("/thumbnail", "/thumbnail"), ("/thumbnail?", "/thumbnail"),
        ])
    func `a query is shown without sources, signatures and keys`(target: String, text: String) {
        #expect(shown(target, by: NativeDialect()) == text)
    }

    @Test func `imgproxy's options are shown`() throws {
        var configuration = ImgproxyConfiguration()
        configuration.prefix = PathPrefix("/img")
        let dialect = try #require(ImgproxyDialect(configuration))
        for source in ["plain/https://example.com/a.jpg@webp", "aHR0cHM6Ly9leGFtcGxlLmNvbQ"] {
            #expect(shown("/img/sig/rs:fit:300:200/q:80/\(source)", by: dialect) == "/img/rs:fit:300:200/q:80")
        }
        #expect(shown("/img/sig", by: dialect) == "/img")
        #expect(dialect.loggedSource(RequestedTarget("/img/_/w:3/plain/https://h/a")) == "https://h/a")
        #expect(dialect.loggedSource(RequestedTarget("/img/_")) == nil)
    }

    @Test func `thumbor's options are shown, but no images in its filters`() throws {
        var configuration = ThumborConfiguration()
        configuration.prefix = PathPrefix("/t")
        let dialect = try #require(ThumborDialect(configuration))
        let filters = "filters:blur(3):watermark(https://h/m.png,0,0,0)"
        #expect(
            shown("/t/unsafe/fit-in/300x200/\(filters)/https://h/a.jpg", by: dialect)
                == "/t/fit-in/300x200/filters:blur(3):watermark()")
        #expect(shown("/t/unsafe/https://h/a.jpg", by: dialect).hasPrefix("/t"))
        #expect(!shown("/t/unsafe/https://h/a.jpg", by: dialect).contains("h/a"))
    }

    @Test func `options of front ends are shown`() throws {
        let prefix = try #require(PathPrefix("/cdn-cgi/image"))
        let dialect = CloudflareDialect(at: prefix, base: nil)
        #expect(
            shown("/cdn-cgi/image/width=80,fit=cover/https://h/a.jpg?b", by: dialect)
                == "/cdn-cgi/image/width=80,fit=cover")
        #expect(shown("/cdn-cgi/image/https://h/a.jpg", by: dialect) == "/cdn-cgi/image/https:")
        #expect(shown("/cdn-cgi/image/", by: dialect) == "/cdn-cgi/image")
    }

    @Test func `keys are numbered from 1`() {
        let keys: [[UInt8]] = [[1], [2]]
        let dialect = NativeDialect(signingKeys: keys)
        for (index, key) in keys.enumerated() {
            let target = RequestedTarget(URLSigner.sign(target: "/thumbnail?url=a", key: key))
            #expect(dialect.keyID(of: target) == "\(index + 1)")
        }
        #expect(dialect.keyID(of: RequestedTarget(URLSigner.sign(target: "/thumbnail?url=a", key: [3]))) == nil)
        #expect(NativeDialect().keyID(of: RequestedTarget("/thumbnail?url=a")) == nil)
    }

    @Test func `the only key of a dialect is 1`() throws {
        var configuration = ThumborConfiguration()
        (configuration.prefix, configuration.key) = (PathPrefix("/t"), [1])
        configuration.servesUnsafe = true
        let dialect = try #require(ThumborDialect(configuration))
        let path = Array("30x20/a.png".utf8)
        let signer = ThumborSigner(key: [1], hash: .sha1, length: nil)
        let signature = String(decoding: signer.signature(of: path), as: UTF8.self)
        #expect(dialect.keyID(of: RequestedTarget("/t/\(signature)/30x20/a.png")) == "1")
        #expect(dialect.keyID(of: RequestedTarget("/t/unsafe/30x20/a.png")) == nil)
    }
}
