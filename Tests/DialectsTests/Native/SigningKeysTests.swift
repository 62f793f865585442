import Recipes
import Testing
import Text
import ThumbnailTypes

@testable import Dialects

struct SigningKeysTests {
    private static let bytes = (0..<2).map { [UInt8](repeating: UInt8($0 + 1), count: 32) }
    private let keys = SigningKeys(
        [],
        named: [
            .init(id: "old", bytes: bytes[0]), .init(id: "new", bytes: bytes[1]),
        ])

    private func signed(_ target: String, _ key: Int) -> String {
        URLSigner.sign(target: target, key: Self.bytes[key])
    }

    @Test func `a target names its key before the signature, which covers the name`() throws {
        let dialect = NativeDialect(keys, vocabulary: Vocabulary())
        let target = RequestedTarget(signed("/thumbnail?url=https%3A%2F%2Fa.example%2Fb&w=9&key=new", 1))
        #expect(dialect.isAuthentic(target) && dialect.keyID(of: target) == "new")
        #expect(try dialect.request(in: target).nativeOptions?.width == 9)
        let renamed = RequestedTarget(target.target.string.replacing("key=new", with: "key=old"))
        #expect(!dialect.isAuthentic(renamed) && dialect.keyID(of: renamed) == nil)
        #expect(dialect.namedKeyID(of: renamed) == "old")
    }

    @Test func `without a name each key is tried`() {
        #expect(keys.signerID(of: signed("/thumbnail?url=a", 1)) == "new")
        #expect(SigningKeys(Self.bytes).signerID(of: signed("/thumbnail?url=a", 1)) == "2")
    }

    @Test func `an unknown ID is as wrong as a wrong signature, also for a tenant without keys`() {
        for keys in [keys, SigningKeys([], named: [])] {
            #expect(!keys.areSatisfied(by: signed("/thumbnail?url=a&key=none", 0)))
            #expect(!keys.areSatisfied(by: "/thumbnail?url=a&key=old"))
            #expect(keys.keys(for: "/thumbnail?w=9&key=none").count == 1)
        }
        #expect(SigningKeys([], named: []).areSatisfied(by: "/thumbnail?url=a"))
    }

    @Test func `key is an unknown parameter in a service without tenants, and elsewhere in the target`() throws {
        for (keys, target) in [
            (SigningKeys(), "/thumbnail?url=https%3A%2F%2Fa.example%2Fb&key=old"),
            (SigningKeys([], named: []), "/thumbnail?key=old&url=https%3A%2F%2Fa.example%2Fb"),
        ] {
            #expect(keys.areSatisfied(by: target))
            #expect(throws: APIError.self) {
                try NativeDialect(keys, vocabulary: Vocabulary()).request(in: RequestedTarget(target))
            }
        }
    }

    @Test(arguments: [
        ("/thumbnails?key=a", "/thumbnails"), ("/thumbnails?expires=1&key=a", "/thumbnails?expires=1"),
        ("/info?key=a&sig=b", "/info?sig=b"), ("/info?url=c&key=a&sig=b", "/info?url=c&sig=b"),
        ("/info?url=c&keys=a", "/info?url=c&keys=a"), ("/info", "/info"),
    ])
    func `the grammar reads the target without the name`(target: String, rest: String) {
        #expect(keys.unnamed(target) == rest)
    }
}
