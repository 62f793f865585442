import Crypto
import HTTPTypes
import Memory
import Testing

@testable import ThumbnailAPI

/// Signatures of requests with a body, and digests that allow checking the header alone.
struct BodySignatureTests {
    private static let key = [UInt8](0..<32)
    private static let digest = SharedBytes(Array("abc".utf8)).withBytes { SHA256.hash($0) }
    private static let stated = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"

    private func request(_ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: .post, target: "/thumbnail?w=3", headerFields: fields)
    }

    // The codes were computed with Python's hmac from the text in the documentation.
    @Test func `the signed text is the documentation's`() {
        let full = request([.contentType: "image/jpeg", .accept: "image/webp", .accept: "*/*;q=0.5"])
        #expect(
            BodySignature.sign(full, digest: Self.digest, key: Self.key)
                == "npQx_g9amUL7NtVWAq-xa0WUigwyl---ZNjOUSiAV7A")
        #expect(
            BodySignature.sign(full, digest: Self.digest, key: Self.key, version: .two)
                == "v2:neZopJOAaqRAhn2w1pi0JgxASS71g5QEl6ZImHzPNwQ")
        #expect(
            BodySignature.sign(request(), digest: Self.digest, key: Self.key, version: .two)
                == "v2:tdwXMdIBcK1Pi-79ffBfyKcr-N6byKge6w08TbTRVhc")
        let fields = BodySignature.fields(of: full, digest: Self.digest, key: Self.key, version: .two)
        #expect(fields[.contentDigest] == Self.stated && fields[.alulaSignature]?.hasPrefix("v2:neZ") == true)
    }

    @Test func `the second version covers the media type and Accept, the first does not`() throws {
        let signed = request([.contentType: "image/jpeg", .accept: "image/webp"])
        for (version, isBound) in [(BodySignature.Version.one, false), (.two, true)] {
            let text = BodySignature.sign(signed, digest: Self.digest, key: Self.key, version: version)
            let signature = try #require(BodySignature([.alulaSignature: text]))
            func isValid(_ fields: HTTPFields) -> Bool {
                signature.isValid(
                    for: request(fields), digest: Self.digest, keys: [[UInt8](repeating: 1, count: 32), Self.key])
            }
            #expect(isValid(signed.headerFields))
            #expect(isValid([.contentType: "image/png", .accept: "image/webp"]) == !isBound)
            #expect(isValid([.contentType: "image/jpeg", .accept: "*/*"]) == !isBound)
            #expect(isValid([.contentType: "image/jpeg"]) == !isBound)
            #expect(isValid([.contentType: "image/jpeg\timage/webp"]) == !isBound)
        }
    }

    @Test(arguments: [
        "", "v2:", "v3:npQx_g9amUL7NtVWAq-xa0WUigwyl---ZNjOUSiAV7A", "npQx", "v2:npQx",
        "V2:npQx_g9amUL7NtVWAq-xa0WUigwyl---ZNjOUSiAV7A",
    ])
    func `a malformed signature is rejected`(text: String) {
        #expect(BodySignature([.alulaSignature: text]) == nil)
    }

    @Test(
        arguments: [
            (stated, true), ("sha-512=:AA==:, \(stated)", true), (stated + ";x=1", true), ("sha-512=:AA==:", nil),
            ("", nil), ("sha-256=:AA==:", false), ("sha-256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", false),
            ("sha-256", false), ("sha-256=:AA==:, \(stated)", false),
        ] as [(String, Bool?)])
    func `a digest is parsed in RFC 9530's format`(text: String, isDigest: Bool?) throws {
        guard isDigest != false else {
            #expect(throws: ContentDigest.Malformed.self) { try ContentDigest.sha256(in: [.contentDigest: text]) }
            return
        }
        #expect(try ContentDigest.sha256(in: [.contentDigest: text]) == (isDigest == true ? Self.digest : nil))
    }
}
