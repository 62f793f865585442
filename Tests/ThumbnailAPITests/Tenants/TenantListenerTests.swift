import Coordination
import Crypto
import Dialects
import HTTPTypes
import Memory
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

struct TenantListenerTests {
    private static let url = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=9"
    private static let bytes = (0..<3).map { [UInt8](repeating: UInt8($0 + 1), count: 32) }

    /// `default` is open, `shop` has two keys and a preset, and `news` a host.
    private func listener(
        _ thumbnails: StubThumbnails = StubThumbnails(), keys: [SigningKeys.Key] = shopKeys
    ) -> PublicListenerFixture {
        var configurations = (["default", "shop", "news"] as [ExactText]).map { name in
            var configuration = APIConfiguration()
            (configuration.tenant, configuration.namedKeys) = (name, [])
            configuration.takesUploads = true
            return configuration
        }
        configurations[1].namedKeys = keys
        configurations[1].vocabulary.presets["card"] = [("w", "300")]
        configurations[1].requestLimits.maximumOutputPixels = 100
        return PublicListenerFixture(
            thumbnails,
            tenants: configurations.enumerated().map { index, configuration in
                TenantDirectory.Entry(
                    TenantAccount(configuration.tenant, timekeeper: ManualTimekeeper()),
                    hosts: index == 2 ? ["news.example"] : [],
                    keys: configuration.namedKeys ?? [],
                    hasOtherKeys: false
                ) { configuration }
            }, configurations)
    }

    private static let shopKeys = [
        SigningKeys.Key(id: "old", bytes: bytes[0]), SigningKeys.Key(id: "new", bytes: bytes[1]),
    ]

    private func signed(_ target: String, _ key: Int) -> String {
        URLSigner.sign(target: target, key: Self.bytes[key])
    }

    private func line(_ listener: PublicListenerFixture) -> [String] {
        ["tenant", "key"].map { listener.log.lines.last?[$0]?.text ?? "-" }
    }

    @Test func `a request belongs to the tenant of its key, else of its host, else to the default`() async {
        let listener = listener()
        for (target, host, tenant) in [
            (Self.url, nil, ["default", "-"]), (Self.url, "news.example", ["news", "-"]),
            (Self.url, "NEWS.example.:8080", ["news", "-"]), (Self.url, "other.example", ["default", "-"]),
            (signed(Self.url + "&key=new", 1), nil, ["shop", "new"]),
            (signed(Self.url + "&key=old", 0), "news.example", ["shop", "old"]),
        ] as [(String, String?, [String])] {
            let fields: HTTPFields = host.map { [.host: $0] } ?? [:]
            #expect(await listener.respond(target, fields: fields).status == .ok, "\(target)")
            #expect(line(listener) == tenant, "\(target)")
        }
    }

    /// Otherwise the response time would reveal that the key exists.
    @Test func `a key that signs nothing makes no routes of its tenant`() {
        let places = [("default", []), ("shop", Self.shopKeys)].map { name, keys in
            TenantDirectory.Entry(
                TenantAccount(ExactText(name), timekeeper: ManualTimekeeper()), hosts: [], keys: keys,
                hasOtherKeys: false
            ) { APIConfiguration() }
        }
        let made = Locked<[Int]>([])
        let routes = TenantRoutes(places) { tenant in
            made.withLock { $0.append(tenant) }
            return NoRoutes()
        }
        let target = Self.url + "&key=new"
        for (target, count) in [
            (target, 1), (target + "&sig=AAAA", 1), (signed(target, 0), 1), (signed(target, 1), 2),
            (signed(target, 1), 2),
        ] {
            #expect(routes.table(for: HTTPRequest(target: target)).tenant.claimed.name == "shop")
            #expect(made.withLock(\.count) == count, "\(target)")
        }
        let upload = HTTPRequest(
            method: .post, target: "/thumbnails?key=new", headerFields: [.alulaSignature: "its body is not known yet"])
        _ = TenantRoutes(places) { tenant in
            made.withLock { $0.append(tenant) }
            return NoRoutes()
        }.table(for: upload)
        #expect(made.withLock { $0 } == [0, 1, 1])
    }

    @Test func `a key that signs nothing, an unknown one and a foreign one look alike`() async {
        let listener = listener()
        var answers: Set<String> = []
        for (target, host) in [
            (signed(Self.url + "&key=new", 2), "news.example"), (signed(Self.url + "&key=none", 1), "news.example"),
            (signed(Self.url + "&key=old", 1), "a.example"), (Self.url + "&key=old", "a.example"),
        ] {
            let answer = await listener.respond(target, fields: [.host: host])
            #expect(answer.status == .forbidden)
            answers.insert("\(["code", "detail", "title"].map(answer.member)) \(answer.headerFields.map(\.name))")
            #expect(line(listener).first == (host == "news.example" ? "news" : "default"), "no one else's refusal")
        }
        #expect(answers.count == 1)
    }

    @Test func `a tenant's presets and limits are its alone`() async {
        let thumbnails = StubThumbnails()
        let listener = listener(thumbnails)
        let target = Self.url.replacing("w=9", with: "preset=card")
        let foreign = await listener.respond(target)
        let missing = await listener.respond(target.replacing("card", with: "none"))
        #expect(foreign.status == .badRequest && foreign.member("detail") == missing.member("detail"))
        #expect(await listener.respond(signed(target + "&key=new", 1)).status == .ok)
        #expect(thumbnails.requests.last?.limits.maximumOutputPixels == 100)
        #expect(await listener.respond(Self.url).status == .ok)
        #expect(thumbnails.requests.last?.limits == RequestLimits())
    }

    @Test func `the reading of a target is not shared between tenants`() async {
        let listener = listener()
        let target = signed(Self.url + "&key=new", 1)
        for _ in 0..<2 { #expect(await listener.respond(target).status == .ok) }
        for _ in 0..<2 {
            for host in ["news.example", "a.example"] {
                #expect(await listener.respond(Self.url, fields: [.host: host]).status == .ok)
                #expect(line(listener).first == (host == "news.example" ? "news" : "default"))
            }
        }
    }

    @Test func `the only key of a service needs no name`() async {
        let listener = listener(keys: [Self.shopKeys[0]])
        #expect(await listener.respond(signed(Self.url, 0)).status == .ok)
        #expect(line(listener) == ["shop", "old"])
        #expect(await listener.respond(signed(Self.url, 1)).status == .ok, "the default checks only the form")
        #expect(line(listener) == ["default", "-"])
        let upload = SubmissionFixture.request("/thumbnail?w=9")
        #expect(
            await listener.submit(upload, SubmissionFixture.image).status == .ok, "the default takes unsigned bodies")
        #expect(line(listener) == ["default", "-"])
    }

    @Test func `with a body the key is in the signed target`() async {
        let listener = listener()
        let body = SubmissionFixture.image
        for (target, key, status) in [
            ("/thumbnail?w=9&key=new", 1, 200), ("/thumbnail?w=9&key=new", 0, 403), ("/thumbnail?w=9&key=none", 1, 403),
            ("/thumbnail?w=9", 2, 200),
        ] {
            var request = SubmissionFixture.request(target)
            let digest = SharedBytes(body).withBytes { SHA256.hash($0) }
            for field in BodySignature.fields(of: request, digest: digest, key: Self.bytes[key], version: .one) {
                request.headerFields[field.name] = field.value
            }
            let answer = await listener.submit(request, body)
            #expect(answer.status.code == status, "\(target) by \(key)")
            #expect(line(listener).first == (key == 1 && status == 200 ? "shop" : "default"))
        }
    }
}

private struct NoRoutes: RouteTable {
    func route(of target: String) -> Route { .none }
    func maximumBodyLength(at route: Route) -> Int { 0 }
    func body(of request: HTTPRequest, in context: RequestContext) throws -> ArrivingBody { throw APIError.noSuchRoute }
    func respond(to request: HTTPRequest, in context: RequestContext) throws -> PendingResponse<Outcome> {
        throw APIError.noSuchRoute
    }
}
