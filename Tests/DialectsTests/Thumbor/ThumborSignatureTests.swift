import Crypto
import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Signatures of thumbor and imagor that other programs computed.
struct ThumborSignatureTests {
    private static let prefix = PathPrefix("/")

    private func dialect(_ change: (inout ThumborConfiguration) -> Void) throws -> ThumborDialect {
        var configuration = ThumborConfiguration()
        configuration.prefix = Self.prefix
        change(&configuration)
        return try #require(ThumborDialect(configuration))
    }

    private func isAuthentic(_ target: String, _ change: (inout ThumborConfiguration) -> Void) throws -> Bool {
        try dialect(change).isAuthentic(RequestedTarget(target))
    }

    /// Signed with the key `my-security-key`; the signatures are computed with Python's hmac and base64.
    private static let path = "300x200/my.domain.com/some/image/url.jpg"
    private static let signatures: [(HMAC.Hash, Int?, String)] = [
        (.sha1, nil, "TQfyd3H36Z3srcNcLOYiM05YNO8="),
        (.sha256, nil, "g8H8QnmQhtfHurNALfMNgEK3Pu4axg7S5mGCXUZvVzA="),
        (.sha512, nil, "JMeIL7itgQlINVRRz6UQEYZkmqj8y8mZyM_VthISg2I4ZnOTfQpwE-9qKJzELrtxUPQtI-n7F3cpDyEXcCy-tQ=="),
        (.sha256, 40, "g8H8QnmQhtfHurNALfMNgEK3Pu4axg7S5mGCXUZv"),
    ]

    @Test(arguments: signatures)
    func `signatures of other programs are authentic`(hash: HMAC.Hash, length: Int?, signature: String) throws {
        func judge(_ target: String) throws -> Bool {
            try isAuthentic(target) {
                $0.key = Array("my-security-key".utf8)
                ($0.signer, $0.signatureLength) = (hash, length)
            }
        }
        #expect(try judge("/\(signature)/\(Self.path)"))
        #expect(try judge("/\(signature)/\(Self.path)?v=1"))
        #expect(try judge("/\(signature.replacing("=", with: "%3D"))/\(Self.path)"))
        #expect(try !judge("/\(signature)/\(Self.path)x"))
        #expect(try !judge("/\(signature.dropLast())/\(Self.path)"))
        #expect(try !judge("/\(signature)A/\(Self.path)"))
        #expect(try !judge("/unsafe/\(Self.path)"))
        #expect(try !judge("/\(Self.path)"))
    }

    @Test func `a signature of the decoded path is authentic, and one of another algorithm is not`() throws {
        let key = Array("k".utf8)
        let signer = ThumborSigner(key: key, hash: .sha1, length: nil)
        let decoded = String(decoding: signer.signature(of: "30x20/a b.png".utf8), as: UTF8.self)
        #expect(try isAuthentic("/\(decoded)/30x20/a%20b.png") { $0.key = key })
        let other = ThumborSigner(key: key, hash: .sha256, length: nil)
        let foreign = String(decoding: other.signature(of: "30x20/a.png".utf8), as: UTF8.self)
        #expect(try !isAuthentic("/\(foreign)/30x20/a.png") { $0.key = key })
    }

    @Test func `unsafe targets are served without a key, or if a setting allows it`() throws {
        let target = "/unsafe/30x20/a.png"
        #expect(try isAuthentic(target) { _ in })
        #expect(try !isAuthentic(target) { $0.servesUnsafe = false })
        #expect(try !isAuthentic(target) { $0.key = [1] })
        #expect(try isAuthentic(target) { ($0.key, $0.servesUnsafe) = ([1], true) })
        #expect(try !isAuthentic("/AAAA/30x20/a.png") { ($0.key, $0.servesUnsafe) = ([1], true) })
        #expect(try !isAuthentic("/AAAA/30x20/a.png") { _ in })
    }

    @Test func `a dialect that serves unsafe targets has keys that open nothing that other keys close`() throws {
        #expect(try dialect { $0.key = [1] }.signatures == .required)
        #expect(try dialect { ($0.key, $0.servesUnsafe) = ([1], true) }.signatures == .optional)
        #expect(try dialect { _ in }.signatures == .none)
    }

    /// Parses a target that is sent as `sent` but signed as `signed`.
    private func query(_ sent: String, signed: String) throws -> Request {
        let key = Array("k".utf8)
        let code = ThumborSigner(key: key, hash: .sha1, length: nil).signature(of: signed.utf8)
        let target = RequestedTarget("/\(String(decoding: code, as: UTF8.self))/\(sent)")
        let dialect = try dialect { $0.key = key }
        #expect(dialect.isAuthentic(target), "\(sent)")
        return try dialect.request(in: target)
    }

    @Test(arguments: [
        ("300%7820/http://h/a.png", "300x20/http://h/a.png"), ("20%7820/a.png", "20x20/a.png"),
        ("filters%3Agrayscale()/http://h/a.png", "filters:grayscale()/http://h/a.png"),
        ("fit-in%2F30x20%2Fsmart/http%3A//h/a.png", "fit-in/30x20/smart/http://h/a.png"),
        ("30x20/http://h/a%20b.png", "30x20/http://h/a b.png"), ("30x20/a%2520b.png", "30x20/a%20b.png"),
        ("30x20/http://h/%E2%82%AC", "30x20/http://h/€"), ("30x20/http://h/100%25", "30x20/http://h/100%"),
        ("filters%3Afill(%23f00)%3Aquality(%2030%20)/a.png", "filters:fill(#f00):quality( 30 )/a.png"),
    ])
    func `a path that was encoded in transit has the signed meaning`(sent: String, signed: String) throws {
        let read = try query(sent, signed: signed)
        // The same text without percent-encoding.
        let text = ThumborText(bytes: Array(signed.utf8)[...], isDecoded: true)
        let meant = try ThumborTarget(text)
        var reader = ThumborFilterReader(ThumborConfiguration())
        try reader.read(meant.filters)
        let recipe = try #require(read.recipe.recipe as? ThumborRecipe)
        #expect(recipe.options.geometry == meant.geometry && recipe.options.filters == reader.options.filters)
        #expect(recipe.options.quality == reader.options.quality)
        let source = try ThumborSource.source(try #require(meant.decodedSource), base: "http://")
        #expect(read.source == source)
    }

    @Test func `a path signed as sent is parsed as sent`() throws {
        // Escapes in a signed target are literal: this URL begins with `20%7820`.
        let read = try query("20%7820/a.png", signed: "20%7820/a.png")
        let recipe = try #require(read.recipe.recipe as? ThumborRecipe)
        #expect(recipe.options.geometry == ThumborGeometry() && read.source == "http://20x20/a.png")
        #expect(try query("30x20/b%20c.png", signed: "30x20/b%20c.png").source == "http://b%20c.png")
    }

    @Test func `fully encoded filters count without a signature, too`() throws {
        let dialect = try dialect { _ in }
        func recipe(_ target: String) throws -> ThumborRecipe? {
            try dialect.request(in: RequestedTarget(target)).recipe.recipe as? ThumborRecipe
        }
        for target in ["/unsafe/30x20/filters%3Agrayscale()/a.png", "/unsafe/30x20/filters%3agrayscale%28%29/a.png"] {
            let read = try #require(try recipe(target))
            #expect(read.options.filters.count == 1 && read.options.geometry.width == .pixels(30))
        }
        #expect(try recipe("/unsafe/30%7820/a.png")?.options.geometry == ThumborGeometry())
    }

    @Test func `decoded and raw texts share a key only if they have the same meaning`() throws {
        func key(_ text: String, isDecoded: Bool) throws -> String {
            try ThumborTarget(ThumborText(bytes: Array(text.utf8)[...], isDecoded: isDecoded)).optionText
        }
        #expect(try key("filters:quality( 3)/a", isDecoded: true) == key("filters:quality(%203)/a", isDecoded: false))
        #expect(try key("filters:fill(%2541)/a", isDecoded: true) == key("filters:fill(%2541)/a", isDecoded: false))
        #expect(try key("filters:fill(a\nb)/a", isDecoded: true).utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
    }
}
