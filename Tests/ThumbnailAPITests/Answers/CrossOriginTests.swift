import HTTPTypes
import Testing

@testable import ThumbnailAPI

/// Requests from pages of another origin.
struct CrossOriginTests {
    private func listener() -> PublicListenerFixture {
        PublicListenerFixture { $0.allowOrigin = "https://shop.example" }
    }

    @Test(arguments: [
        ("/thumbnail?url=x:y", "GET, HEAD, POST"), ("/thumbnails", "POST"), ("/info?url=x:y", "GET, HEAD"),
        ("/health/live", "GET, HEAD"), ("/", "GET, HEAD"),
    ])
    func `a preflight lists the methods and fields of the route`(target: String, methods: String) async {
        let response = await listener().respond(target, method: .options)
        #expect(response.status == .noContent && response.body.count == 0)
        #expect(response[.accessControlAllowOrigin] == "https://shop.example")
        #expect(response[.accessControlAllowMethods] == methods)
        #expect(response[.accessControlMaxAge] == "86400" && response[.xRequestID] != nil)
        for name in ["Content-Type", "Accept", "Alula-Signature", "Content-Digest"] {
            #expect(response[.accessControlAllowHeaders]?.contains(name) == true)
        }
    }

    @Test(arguments: [true, false])
    func `a preflight permits any field where origins receive some`(forwardsFields: Bool) async {
        let listener = PublicListenerFixture {
            $0.allowOrigin = "*"
            $0.forwardsFields = forwardsFields
        }
        let allowed = await listener.respond("/info?url=x:y", method: .options)[.accessControlAllowHeaders]
        #expect(allowed?.hasSuffix(", Authorization, *") == forwardsFields)
    }

    @Test func `without an allowed origin, and for unknown routes, there is no preflight`() async {
        let rejected = await PublicListenerFixture().respond("/thumbnail", method: .options)
        #expect(rejected.status == .methodNotAllowed && rejected[.accessControlAllowMethods] == nil)
        #expect(await listener().respond("/nothing", method: .options).status == .notFound)
        #expect(await listener().respond("*", method: .options).status == .notFound)
    }

    @Test func `keys do not close preflights, which are unsigned`() async {
        let listener = PublicListenerFixture {
            $0.allowOrigin = "*"
            $0.signingKeys = [[UInt8](0..<32)]
        }
        #expect(await listener.respond("/thumbnails", method: .options).status == .noContent)
    }

    @Test func `pages of the allowed origin may read the response's metadata fields, on failures too`() async {
        for target in ["/thumbnail?url=x:y", "/thumbnail", "/nothing", "/health/live"] {
            let exposed = await listener().respond(target)[.accessControlExposeHeaders] ?? ""
            for name: HTTPField.Name in [
                .eTag, .xRequestID, .serverTiming, .cacheStatus, .alulaError, .alulaIncomplete, .alulaQuality,
                .alulaReceipt,
            ] {
                #expect(exposed.contains(name.rawName), "\(target) \(name)")
            }
        }
        #expect(await PublicListenerFixture().respond("/thumbnail")[.accessControlExposeHeaders] == nil)
    }
}
