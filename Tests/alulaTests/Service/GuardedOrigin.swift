import Coordination
import HTTPTypes
import Imaging
import Memory
import Recipes
import Telemetry
import TestSupport

/// An origin that receives clients' fields and has a different image for each client.
extension PrivateSourceTests {
    static func fields(_ name: String?) -> String { name.map { "Authorization: Bearer \($0)\r\n" } ?? "" }

    static func image(_ name: String) -> [UInt8] {
        ImageFixture.file(
            .plain(PixelSize(width: 64, height: 48), name == "alice" ? [200, 0, 0] : [0, 0, 200]), as: .png)
    }

    /// Alice and Bob have an image each, Mallory has none, and unknown clients get a challenge.
    static func answer(
        to request: FakeOrigin.Request, as statuses: [String: Int] = ["mallory": 403], _ control: String?
    ) -> FakeResponse {
        guard let name = request.value("Authorization")?.dropFirst("Bearer ".count) else {
            return FakeResponse.status(401).with("WWW-Authenticate", "Bearer realm=\"images\"")
        }
        if let status = statuses[String(name)] { return .status(status) }
        guard request.target == "/a" else { return .status(404) }
        let tag = "\"\(name)\""
        let answer =
            request.value("If-None-Match") == tag
            ? FakeResponse(status: 304) : .image(image(String(name)), type: "image/png")
        return control.map { answer.with("ETag", tag).with("Cache-Control", $0) } ?? answer.with("ETag", tag)
    }

    static func answer(to request: FakeOrigin.Request, _ control: String?) -> FakeResponse {
        answer(to: request, as: ["mallory": 403], control)
    }

    static func color(_ answer: RawHTTPClient.Response) throws -> [UInt8] {
        try ImageReading.decode(SharedBytes(answer.body)).pixel(x: 8, y: 8)
    }
}

extension RunningService {
    func get(
        _ path: String, as name: String?, _ query: String = "w=32&format=png", fields: String = ""
    ) async throws -> RawHTTPClient.Response {
        try await send("GET", "/thumbnail?url=guarded:\(path)&\(query)", PrivateSourceTests.fields(name) + fields)
    }
}

func withGuardedOrigin(
    _ arguments: [String] = [], control: String? = nil, time: any Timekeeper = SystemTimekeeper(),
    logger: Logger = .silent, _ body: (RunningService) async throws -> Void
) async throws {
    let file = """
        { origins: {
          guarded: { url: "ORIGIN", forward: ["Authorization", "Cookie:session", "X-Team"] },
          other: { url: "ORIGIN" },
        } }
        """
    try await withService(arguments, file: file, time: time, logger: logger) { running in
        running.origin.serveOthers { PrivateSourceTests.answer(to: $0, control) }
        try await body(running)
    }
}
