import Coordination
import HTTPTypes
import Memory
import Telemetry
import TestSupport
import ThumbnailPipeline

@testable import ThumbnailAPI

/// The public listener's responder with stubs that tests can inspect.
struct PublicListenerFixture {
    let thumbnails: StubThumbnails
    let lifecycle = ServiceLifecycle(startedAt: .zero)
    let time = ManualTimekeeper()
    let log = RecordingSink()
    let registry = MetricsRegistry()
    let events = EventLog()
    let responder: ListenerResponder

    init(
        _ thumbnails: StubThumbnails = StubThumbnails(), budget: MemoryBudget = MemoryBudget(),
        resultWriter: ResultWriter = ResultWriter(), tracer: Tracer? = nil, tenants: [TenantDirectory.Entry] = [],
        _ configurations: [APIConfiguration] = [], configure: (inout APIConfiguration) -> Void = { _ in }
    ) {
        self.thumbnails = thumbnails
        var configuration = APIConfiguration()
        configure(&configuration)
        let listener = PublicListener(
            lifecycle: lifecycle, metrics: APIMetrics(registry: registry), bodies: BodyMemory(of: budget),
            events: events, clientLimit: ClientLimit(configuration.maximumRequestsPerClient),
            slowRequests: SlowRequests(timekeeper: time), tracer: tracer, logger: Logger(level: .info, sink: log),
            timekeeper: time)
        let each = PublicListener.Tenants(tenants) { TenantServices(configurations[$0], thumbnails: thumbnails) }
        responder = listener.responder(
            for: TenantServices(configuration, thumbnails: thumbnails, resultWriter: resultWriter),
            tenants: tenants.isEmpty ? nil : each)
    }

    /// The response to a request, now or later.
    func respond(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: [UInt8] = []
    ) async -> HTTPResponse {
        await Self.response(
            of: responder.respond(
                to: HTTPRequest(method: method, target: target, headerFields: fields, body: SharedBytes(body))))
    }

    /// Waits for the response.
    static func response(of pending: PendingResponse<HTTPResponse>) async -> HTTPResponse {
        switch pending {
        case .ready(let response): return response
        case .recurring(let recurring, _): return recurring.response
        case .deferred(let compute): return await compute()
        case .waiting(let wait):
            await withCheckedContinuation { continuation in wait.begin { continuation.resume() } }
            return await response(of: wait.finish())
        }
    }
}

extension HTTPResponse {
    subscript(name: HTTPField.Name) -> String? { headerFields[name] }

    var text: String {
        switch body {
        case .empty, .streamed: ""
        case .text(let text): text
        case .shared(let bytes): String(decoding: bytes.array, as: UTF8.self)
        }
    }

    /// The `code` of a problem response.
    var code: String? { member("code") }

    /// A string member of a problem response.
    func member(_ name: String) -> String? {
        guard let start = text.firstRange(of: "\"\(name)\":\"")?.upperBound else { return nil }
        return String(text[start...].prefix { $0 != "\"" })
    }
}
