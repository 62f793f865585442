import Crypto
import Testing
import Text

@testable import ThumbnailAPI

/// Signatures of thumbor and imagor, which other programs have made.
struct ThumborSignatureTests {
    private static let place = DialectPlace("/")

    private func dialect(_ change: (inout ThumborConfiguration) -> Void) throws -> ThumborDialect {
        var configuration = ThumborConfiguration()
        configuration.place = Self.place
        change(&configuration)
        return try #require(ThumborDialect(configuration))
    }

    private func isAuthentic(_ target: String, _ change: (inout ThumborConfiguration) -> Void) throws -> Bool {
        try dialect(change).isAuthentic(RequestedTarget(target))
    }

    /// Computed with Python's hmac and base64 for the key `my-security-key`.
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

    @Test func `unsafe targets are served without a key, or if that is asked for`() throws {
        let target = "/unsafe/30x20/a.png"
        #expect(try isAuthentic(target) { _ in })
        #expect(try !isAuthentic(target) { $0.servesUnsafe = false })
        #expect(try !isAuthentic(target) { $0.key = [1] })
        #expect(try isAuthentic(target) { ($0.key, $0.servesUnsafe) = ([1], true) })
        #expect(try !isAuthentic("/AAAA/30x20/a.png") { ($0.key, $0.servesUnsafe) = ([1], true) })
        #expect(try !isAuthentic("/AAAA/30x20/a.png") { _ in })
    }

    @Test func `a dialect that serves unsafe targets has no keys that could open what others close`() throws {
        #expect(try dialect { $0.key = [1] }.hasSigningKeys)
        #expect(try !dialect { ($0.key, $0.servesUnsafe) = ([1], true) }.hasSigningKeys)
        #expect(try !dialect { _ in }.hasSigningKeys)
    }
}
