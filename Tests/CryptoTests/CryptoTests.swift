import Crypto
import Testing

struct CryptoTests {
    /// Examples of FIPS 180-4.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `SHA-256 gives the standard's examples`(message: String, digest: String) {
        #expect(Array(message.utf8).withSpan { SHA256.hash($0) }.hexadecimal == digest)
    }

    @Test func `SHA-256 in pieces equals SHA-256 at once`() {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        var hash = SHA256()
        for start in stride(from: 0, to: 1_000, by: 77) {
            Array(bytes[start..<min(start + 77, 1_000)]).withSpan { hash.update($0) }
        }
        #expect(hash.finalize() == bytes.withSpan { SHA256.hash($0) })
    }

    /// Test case 2 of RFC 4231.
    @Test func `HMAC-SHA256 gives the RFC's example`() {
        let code = HMAC.authenticationCode(for: "what do ya want for nothing?".utf8, key: Array("Jefe".utf8))
        #expect(Hexadecimal.encode(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test func `codes are equal only if every byte and the length are`() {
        #expect(HMAC.isEqual([1, 2, 3], [1, 2, 3]))
        #expect(!HMAC.isEqual([1, 2, 3], [1, 2, 4]))
        #expect(!HMAC.isEqual([1, 2, 3], [1, 2]))
    }

    @Test func `hexadecimal round-trips`() {
        #expect(Hexadecimal.decode("00ffA5") == [0, 255, 165])
        #expect(Hexadecimal.decode("0") == nil)
        #expect(Hexadecimal.decode("0g") == nil)
    }

    @Test(
        arguments: [([], ""), ([102], "Zg"), ([102, 111], "Zm8"), ([251, 255, 254], "-__-")] as [([UInt8], String)])
    func `base64url round-trips`(bytes: [UInt8], text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text) == bytes)
    }

    @Test(
        arguments: [
            ([], ""), ([102], "Zg=="), ([102, 111], "Zm8="), ([102, 111, 111], "Zm9v"),
            ([102, 111, 111, 98], "Zm9vYg=="), ([251, 255, 254], "+//+"),
        ] as [([UInt8], String)])
    func `base64 round-trips`(bytes: [UInt8], text: String) {
        #expect(Base64.encode(bytes) == text)
        #expect(Base64.decode(text) == bytes)
    }

    @Test(arguments: ["Zg==", "Zh", "Z", "+/+/", "Zm8=", "Z g"])
    func `base64url rejects padding, other alphabets and unused bits`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}

extension [UInt8] {
    fileprivate func withSpan<Result>(_ body: (RawSpan) -> Result) -> Result { unsafe body(span.bytes) }
}
