import HTTPServing
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// A service whose sources lead back to itself.
@Suite(.timeLimit(.minutes(1)))
struct RequestLoopTests {
    private func own(_ running: RunningService, _ path: String) -> String {
        "http://127.0.0.1:\(running.service.publicServer.port)\(running.target(path))".replacing("&", with: "%26")
    }

    @Test func `a service that requests itself ends the loop at once`() async throws {
        try await withService { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            let nested = try await running.send("GET", "/thumbnail?url=\(own(running, "/a.jpg"))&w=32")
            #expect(nested.status == 502 || nested.status == 404 || nested.status == 403, "\(nested.status)")
            #expect(running.origin.requests.isEmpty, "the inner request was served")
            running.origin.serve("/loop", .redirect(to: own(running, "/loop")))
            #expect(try await running.thumbnail("/loop").status != 200)
            #expect(running.origin.requests.count == 1)
            #expect(running.origin.requests.first?.value("CDN-Loop") == "alula")
        }
    }

    @Test func `requests with the service's name are rejected by image routes only`() async throws {
        try await withService(["--cdn-loop", "images.example.com"]) { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            let field = "CDN-Loop: other, Images.example.com; v=1\r\n"
            let rejected = try await running.thumbnail("/a.jpg", fields: field)
            #expect(rejected.status == 403 && rejected.text.contains("request_loop"))
            let body = "CDN-Loop: images.example.com\r\nContent-Length: 2\r\nContent-Type: application/json\r\n"
            #expect(try await running.send("POST", "/thumbnails", body).status == 403)
            #expect(try await running.send("GET", "/health/ready", field).status == 200)
            #expect(try await running.thumbnail("/a.jpg", fields: "CDN-Loop: alula\r\n").status == 200)
        }
    }
}
