import Coordination
import Crypto
import HTTPTypes
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline

@testable import ThumbnailAPI

/// Decisions by the header of a request with a body, and the cost of the body.
@Suite(.timeLimit(.minutes(1)))
struct SubmissionAdmissionTests {
    private typealias Fixture = SubmissionFixture
    private static let key = [UInt8](0..<32)

    /// A signed request with a body.
    private func signed(
        _ target: String, _ fields: HTTPFields, for body: [UInt8], version: BodySignature.Version = .one,
        statesDigest: Bool = true
    ) -> HTTPRequest {
        var request = Fixture.request(target, fields)
        let digest = SharedBytes(body).withBytes { SHA256.hash($0) }
        for field in BodySignature.fields(of: request, digest: digest, key: Self.key, version: version)
        where statesDigest || field.name != .contentDigest {
            request.headerFields.append(field)
        }
        return request
    }

    @Test func `a body is rejected before it is read if the header suffices`() {
        let listener = PublicListenerFixture.takingUploads(budget: MemoryBudget(limit: 64 << 20)) {
            $0.maximumUploadBytes = 5_000
        }
        func rejection(_ target: String, _ length: Int?, _ fields: HTTPFields = Fixture.jpeg) -> String? {
            listener.admission(of: Fixture.request(target, fields), length: length).rejection?.code
        }
        #expect(rejection("/thumbnail?w=3", 5_000) == nil && rejection("/thumbnail?w=3", 5_001) == "source_too_large")
        #expect(rejection("/thumbnail?w=3", nil) == nil && rejection("/thumbnail?w=x", nil) == "bad_parameter")
        #expect(rejection("/thumbnail?w=x", 10) == "bad_parameter")
        #expect(rejection("/thumbnail?expires=1&w=x", 10) == "bad_parameter")
        #expect(rejection("/thumbnail?expires=1", 10, [.contentType: "text/html"]) == "expired")
        #expect(rejection("/thumbnails?expires=1", 10, Fixture.json) == "expired")
        #expect(rejection("/thumbnails?expires=99999999999", 10, Fixture.json) == nil)
        #expect(rejection("/thumbnails?expires=99999999999&expires=99999999999", 10, Fixture.json) == "bad_parameter")
        #expect(rejection("/thumbnails", 2 << 20, Fixture.json) == "request_too_large")
        #expect(rejection("/nothing", 10) == "no_such_route")
        let put = HTTPRequest(method: HTTPRequest.Method(rawValue: "PUT"), target: "/thumbnail")
        #expect(listener.admission(of: put, length: 3).rejection?.code == "method_not_allowed")
        #expect(listener.responder.bodyPolicy(for: HTTPRequest(method: .post, target: "/info?url=x")) == nil)
    }

    private func recorded(_ listener: PublicListenerFixture) -> [ServiceEvent] {
        listener.events.events(after: 0).map(\.event)
    }

    @Test func `the arrival of an image is reported, at most four times a second`() async throws {
        let listener = PublicListenerFixture.takingUploads()
        let request = Fixture.request("/thumbnail?w=3")
        let hold = try #require(listener.admission(of: request, length: 100).hold)
        #expect(hold.rejection(ofLength: 10) == nil)
        listener.time.advance(by: .milliseconds(250))
        for length in [20, 30] { #expect(hold.rejection(ofLength: length) == nil) }
        var complete = request
        complete.body = SharedBytes(Array(repeating: 0, count: 100))
        let response = await PublicListenerFixture.response(of: hold.respond(to: complete))
        let id = try #require(response[.xRequestID])
        #expect(
            recorded(listener) == [
                .upload(id: id, state: .started, bytes: 0, total: 100),
                .upload(id: id, state: .progress, bytes: 20, total: 100),
                .upload(id: id, state: .finished, bytes: 100, total: 100),
            ])
    }

    @Test func `an image that is too long or not sent to its end has failed`() throws {
        let listener = PublicListenerFixture.takingUploads { $0.maximumUploadBytes = 50 }
        var hold = listener.admission(of: Fixture.request("/thumbnail?w=3"), length: nil).hold
        #expect(hold?.rejection(ofLength: 51) != nil)
        hold = listener.admission(of: Fixture.request("/thumbnail?w=3"), length: 40).hold
        #expect(hold?.rejection(ofLength: 7) == nil)
        hold = listener.admission(of: Fixture.request("/thumbnail?w=3"), length: 40).hold
        #expect(hold?.rejection(ofLength: 9) == nil)
        hold?.interrupt(by: .bodyTimeout)
        hold = nil
        let ends = recorded(listener).compactMap { event -> String? in
            guard case .upload(_, .failed, let bytes, _, let error) = event else { return nil }
            return "\(bytes) \(error ?? "")"
        }
        #expect(ends == ["51 source_too_large", "7 client_closed", "9 request_timeout"])
    }

    @Test func `a list without an image is no upload`() {
        let listener = PublicListenerFixture.takingUploads()
        _ = listener.admission(of: Fixture.request("/thumbnails", Fixture.json), length: 10)
        #expect(recorded(listener).isEmpty)
    }

    @Test func `announced bodies take no memory before they arrive, and each client has its share`() throws {
        let budget = MemoryBudget(limit: 64 << 20)
        let listener = PublicListenerFixture.takingUploads(budget: budget)
        func hold(_ host: UInt64) throws -> any BodyReservation {
            let peer = PeerAddress(high: 0, low: 0xffff_c000_0200 + host)
            return try #require(
                listener.admission(of: Fixture.request("/thumbnail?w=3", from: peer), length: 4 << 20).hold)
        }
        let silent = try (0..<64).map { _ in try hold(1) }
        #expect(budget.statistics.reserved == 0)
        // A quarter of a quarter of the budget.
        #expect(silent[0].rejection(ofLength: 4 << 20) == nil && budget.statistics.reserved == 4 << 20)
        #expect(silent[1].rejection(ofLength: 1)?.code == "overloaded")
        let lists = listener.admission(of: Fixture.request("/thumbnails", Fixture.json), length: 1 << 20)
        #expect(lists.hold != nil && budget.statistics.reserved == 4 << 20)
        let others = try (2...4).map { try hold($0) }
        for other in others { #expect(other.rejection(ofLength: 4 << 20) == nil) }
        #expect(budget.statistics.reserved == 16 << 20)
        let fifth = Fixture.request("/thumbnail?w=3", from: PeerAddress(high: 0, low: 0xffff_c000_0205))
        #expect(listener.admission(of: fifth, length: 1).rejection?.status == .serviceUnavailable)
        #expect(listener.admission(of: fifth, length: nil).hold?.rejection(ofLength: 1)?.code == "overloaded")
        // A body that can never fit is not an overload.
        #expect(listener.admission(of: fifth, length: 4 << 20 + 1).rejection?.code == "source_too_large")
        withExtendedLifetime((silent, lists, others)) {}
    }

    @Test func `the share of a body is released with the response`() async throws {
        let budget = MemoryBudget(limit: 64 << 20)
        let gate = Gate()
        let listener = PublicListenerFixture.takingUploads(
            StubThumbnails(make: { _ in
                await gate.pass()
                return .sample(.jpeg)
            }), budget: budget)
        let body = Fixture.image + [UInt8](repeating: 0, count: 3 << 20)
        let first = Task { await listener.submit(Fixture.request("/thumbnail?w=3"), body) }
        await gate.arrivals(1)
        #expect(budget.statistics.reserved == 0)
        #expect(
            listener.admission(of: Fixture.request("/thumbnail?w=3"), length: body.count).rejection?.code
                == "overloaded")
        gate.open()
        #expect(await first.value.status == .ok)
        #expect(listener.admission(of: Fixture.request("/thumbnail?w=3"), length: body.count).rejection == nil)
        let list = Array(#"{"url":"https://h/a","renditions":["w=3"]}"#.utf8)
        let several = await listener.submit(Fixture.request("/thumbnails", Fixture.json), list)
        _ = await several.received()
        #expect(
            await eventually {
                listener.admission(of: Fixture.request("/thumbnail?w=3"), length: 4 << 20).rejection == nil
            })
    }

    @Test func `the time of a request counts from its header, so body and work share it`() async throws {
        let gate = Gate()
        let listener = PublicListenerFixture.takingUploads(
            StubThumbnails(make: { _ in
                try await withTaskCancellationHandler {
                    await gate.pass()
                    try Task.checkCancellation()
                    return .sample(.jpeg)
                } onCancel: {
                    gate.open()
                }
            })
        ) { $0.requestTimeout = .seconds(15) }
        var request = Fixture.request("/thumbnail?w=3")
        let hold = try #require(listener.admission(of: request, length: Fixture.image.count).hold)
        listener.time.advance(by: .seconds(14))
        request.body = SharedBytes(Fixture.image)
        let answer = hold.respond(to: request)
        let response = Task { await PublicListenerFixture.response(of: answer) }
        await gate.arrivals(1)
        await listener.time.sleepers(1)
        listener.time.advance(by: .seconds(1))
        #expect(await response.value.status == .gatewayTimeout)
    }

    @Test func `with keys the signature is checked before anything but the route`() async {
        let listener = PublicListenerFixture.takingUploads { $0.signingKeys = [Self.key] }
        func code(_ target: String, _ fields: HTTPFields) -> String? {
            listener.admission(of: Fixture.request(target, fields), length: 3).rejection?.code
        }
        for fields: HTTPFields in [
            Fixture.jpeg, [.contentType: "text/html"], [:], [.contentType: "image/jpeg", .alulaSignature: "x"],
        ] {
            for target in [
                "/thumbnail?w=3", "/thumbnail?w=x", "/thumbnail?expires=1", "/thumbnails", "/thumbnails?x=1",
            ] {
                #expect(code(target, fields) == "bad_signature", "\(target) \(fields)")
            }
        }
        #expect(await listener.respond("/thumbnail?w=x", method: .post, body: [1]).code == "bad_signature")
        let off = PublicListenerFixture { $0.signingKeys = [Self.key] }
        #expect(off.admission(of: Fixture.request("/thumbnail"), length: 3).rejection?.code == "bad_signature")
    }

    @Test(arguments: [BodySignature.Version.one, .two], [true, false])
    func `a signature is checked with the body, or with the header if it states the digest`(
        version: BodySignature.Version, statesDigest: Bool
    ) async {
        let listener = PublicListenerFixture.takingUploads { $0.signingKeys = [[UInt8](32..<64), Self.key] }
        let good = signed(
            "/thumbnail?w=3", Fixture.jpeg, for: Fixture.image, version: version, statesDigest: statesDigest)
        #expect(await listener.submit(good, Fixture.image).status == .ok)
        // The received body is not the signed one.
        #expect(await listener.submit(good, Fixture.image + [0]).code == "bad_signature")
        var other = good
        other.target = "/thumbnail?w=4"
        #expect((listener.admission(of: other, length: 9).rejection?.code == "bad_signature") == statesDigest)
        #expect(await listener.submit(other, Fixture.image).code == "bad_signature")
        var png = good
        png.headerFields[.contentType] = "image/png"
        #expect((await listener.submit(png, Fixture.image).status == .ok) == (version == .one))
        var twice = good
        twice.headerFields.append(.alulaSignature, good.headerFields[.alulaSignature] ?? "")
        #expect(listener.admission(of: twice, length: 9).rejection?.code == "bad_signature")
        let late = signed("/thumbnail?expires=1&w=3", Fixture.jpeg, for: Fixture.image, statesDigest: statesDigest)
        #expect(listener.admission(of: late, length: 9).rejection?.code == "expired")
    }

    @Test func `without keys a stated digest is checked as well`() async {
        let listener = PublicListenerFixture.takingUploads()
        var request = signed("/thumbnail?w=3", Fixture.jpeg, for: Fixture.image)
        #expect(await listener.submit(request, Fixture.image).status == .ok)
        #expect(await listener.submit(request, Fixture.image + [0]).code == "bad_body")
        request.headerFields[.contentDigest] = "sha-256=:x:"
        #expect(listener.admission(of: request, length: 9).rejection?.code == "bad_body")
    }

    @Test(arguments: [
        ("/nothing", "POST", 404), ("/nothing", "PUT", 404), ("/thumbnail", "PUT", 405), ("/thumbnails", "PATCH", 405),
        ("/health/live", "POST", 405), ("/info", "POST", 405), ("/thumbnail?w=3", "POST", 411),
        ("/thumbnails", "POST", 411),
    ])
    func `a request without a body is rejected for its route or method first`(
        target: String, method: String, status: Int
    ) async {
        let listener = PublicListenerFixture.takingUploads()
        let request = HTTPRequest(
            method: HTTPRequest.Method(rawValue: method), target: target,
            headerFields: target == "/thumbnails" ? Fixture.json : [:])
        let response = await PublicListenerFixture.response(of: listener.responder.respond(to: request))
        #expect(response.status.code == status && (status != 405 || response[.allow] != nil))
    }

    @Test func `curl's default media type is accepted for an image, and others are reported`() async {
        let listener = PublicListenerFixture.takingUploads()
        let curl: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        #expect(await listener.submit(Fixture.request("/thumbnail?w=3", curl), Fixture.image).status == .ok)
        #expect(await listener.submit(Fixture.request("/thumbnail?w=3", curl), [1, 2, 3]).code == "not_an_image")
        let text = await listener.submit(Fixture.request("/thumbnail?w=3", [.contentType: "text/plain"]), Fixture.image)
        #expect(text.code == "not_an_image" && text.text.contains("Content-Type text/plain"))
        let list = await listener.submit(Fixture.request("/thumbnails", curl), Array("{}".utf8))
        #expect(list.code == "not_json" && list.text.contains("Content-Type: application/json"))
    }
}
