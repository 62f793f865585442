import Crypto
import Testing
import Text

@testable import Dialects

struct ImgproxySignatureTests {
    private static let path =
        "/rs:fit:300:200/q:80/plain/https%3A%2F%2Fexample.com%2Fimages%2Fcuriosity.jpg@webp"

    private func isAuthentic(
        _ target: String, keys: [String] = ["secret"], salts: [String] = ["hello"], size: Int = 32,
        trusted: [ExactText] = []
    ) -> Bool {
        let dialect = ImgproxyFixture.dialect { configuration in
            configuration.keys = keys.map { Array($0.utf8) }
            configuration.salts = salts.map { Array($0.utf8) }
            configuration.signatureSize = size
            configuration.trustedSignatures = trusted
        }
        return dialect.isAuthentic(RequestedTarget(target))
    }

    private func signature(of path: String, key: String = "secret", salt: String = "hello", size: Int = 32) -> String {
        let code = HMAC.authenticationCode(for: Array((salt + path).utf8), key: Array(key.utf8))
        return Base64URL.encode(Array(code.prefix(size)))
    }

    @Test func `signatures are those of imgproxy`() {
        #expect(isAuthentic("/pFiQcIWxvajZS0gHnKK2Mwc1U4TwsBeN1tyMdst10Pk" + Self.path))
        #expect(
            isAuthentic("/oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20/asd", keys: ["test-key"], salts: ["test-salt"]))
        #expect(isAuthentic("/oWaL7QoW5Ts/asd", keys: ["test-key"], salts: ["test-salt"], size: 8))
    }

    @Test func `a full signature is invalid for a shorter size, and the reverse`() {
        let (keys, salts) = (["test-key"], ["test-salt"])
        #expect(!isAuthentic("/oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20/asd", keys: keys, salts: salts, size: 8))
        #expect(!isAuthentic("/oWaL7QoW5Ts/asd", keys: keys, salts: salts))
    }

    @Test func `any pair of a key and its salt is valid, but no mixed pair`() {
        let (keys, salts) = (["one", "two"], ["eins", "zwei"])
        for (key, salt) in zip(keys, salts) {
            let signature = signature(of: Self.path, key: key, salt: salt)
            #expect(isAuthentic("/" + signature + Self.path, keys: keys, salts: salts))
        }
        let mixed = signature(of: Self.path, key: "one", salt: "zwei")
        #expect(!isAuthentic("/" + mixed + Self.path, keys: keys, salts: salts))
    }

    @Test func `the repaired path is signed`() {
        let signed = signature(of: "/w:100/plain/http://example.com/a.jpg")
        #expect(isAuthentic("/\(signed)/w:100/plain/http://example.com/a.jpg"))
        #expect(isAuthentic("/\(signed)/w%3A100/plain/http:/example.com/a.jpg"))
        #expect(isAuthentic("/\(signed)//w:100/plain/http://example.com/a.jpg?x=1"))
        #expect(!isAuthentic("/\(signed)/w%3a100/plain/http://example.com/a.jpg"))
        #expect(!isAuthentic("/\(signed)/w:100/plain/http%3A//example.com/a.jpg"))
        let asSent = signature(of: "/w%3A100/plain/http://example.com/a.jpg")
        #expect(!isAuthentic("/\(asSent)/w%3A100/plain/http://example.com/a.jpg"))
    }

    @Test func `other spellings of a signature are invalid`() {
        let signature = signature(of: Self.path)
        let changed = (signature.first == "A" ? "B" : "A") + signature.dropFirst()
        let code = HMAC.authenticationCode(for: Array(("hello" + Self.path).utf8), key: Array("secret".utf8))
        for wrong in [
            signature + "=", changed, signature.uppercased(), String(signature.dropLast()), Hexadecimal.encode(code),
            Base64.encode(code), "unsafe", "_",
        ] {
            #expect(!isAuthentic("/" + wrong + Self.path), "\(wrong)")
        }
        #expect(!isAuthentic("/" + signature + Self.path + "x"))
        #expect(!isAuthentic("/" + self.signature(of: String(Self.path.dropFirst())) + Self.path))
    }

    @Test func `trusted texts are valid signatures for any target`() {
        #expect(isAuthentic("/open-sesame" + Self.path, trusted: ["open-sesame", "partner"]))
        #expect(!isAuthentic("/open-sesam" + Self.path, trusted: ["open-sesame", "partner"]))
        #expect(!isAuthentic("/OPEN-SESAME" + Self.path, trusted: ["open-sesame"]))
    }

    @Test func `without keys any text is a signature, except an option`() {
        #expect(isAuthentic("/_" + Self.path, keys: [], salts: []))
        #expect(isAuthentic("/%3Dx" + Self.path, keys: [], salts: []))
        #expect(!isAuthentic("/w:100" + Self.path, keys: [], salts: []))
        #expect(ImgproxyFixture.dialect().signatures == .none)
    }

    @Test(arguments: ["/", "/x", "/x/", "//w:1/plain/a", "", "/?a/b"])
    func `a target without a path is parsed, and its error says so`(target: String) {
        let dialect = ImgproxyFixture.dialect { ($0.keys, $0.salts) = ([[1]], [[2]]) }
        #expect(dialect.isAuthentic(RequestedTarget(target)))
        #expect(throws: APIError.self) { try dialect.request(in: RequestedTarget(target)) }
    }
}
