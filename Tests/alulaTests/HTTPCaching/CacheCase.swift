import HTTPTypes
import TestSupport
import Testing

/// One behavior of an HTTP cache as a sequence of requests and origin responses.
///
/// The names are those of the public test suite http-tests/cache-tests, so that results can be compared.
struct CacheCase: Sendable {
    /// A field's value: a text, or a date this number of seconds after the exchange.
    enum Value: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case text(String)
        case date(Int)

        init(stringLiteral value: String) { self = .text(value) }
        init(integerLiteral value: Int) { self = .date(value) }

        func text(at now: Int) -> String {
            switch self {
            case .text(let text): text
            case .date(let offset): HTTPDate(secondsSince1970: now + offset).imfFixdate
            }
        }
    }

    /// The requests that the origin must receive.
    enum Expectation: Sendable {
        /// no request
        case cached
        /// a request; the response has the fields of the exchange
        case notCached
        /// a request with the validators of the last response; the new response is 304
        case validated
    }

    /// One request of a client, and the origin's response.
    struct Exchange: Sendable {
        var status = 200
        var fields: [(String, Value)] = []
        /// The client's `Cache-Control`.
        var request: String?
        /// Whether the origin closes the connection instead of responding.
        var isCut = false
        var expectation = Expectation.notCached
        /// The status that the client receives.
        var answer = 200
        /// The `Age` that the client receives; nil for any.
        var age: Int?
        /// Seconds until the next exchange.
        var pause = 3
    }

    let name: String
    let exchanges: [Exchange]

    init(_ name: String, _ exchanges: [Exchange]) {
        self.name = name
        self.exchanges = exchanges
    }

    /// Two requests with a pause; `expectation` says whether the second one reaches the origin.
    init(
        _ name: String, status: Int = 200, _ fields: KeyValuePairs<String, Value>, _ expectation: Expectation,
        request: String? = nil, answer: Int = 200, age: Int? = nil, pause: Int = 3
    ) {
        let fields = fields.map { ($0.key, $0.value) }
        self.init(
            name,
            [
                Exchange(status: status, fields: fields, answer: answer, pause: pause),
                Exchange(
                    status: status, fields: fields, request: request, expectation: expectation, answer: answer, age: age
                ),
            ])
    }

    /// Performs the exchanges on a path that no other case uses.
    func play(on running: RunningService, clock: ManualTimekeeper) async throws {
        let path = "/" + name
        // A successful response and a pause without failures restore the origin's health.
        running.origin.serve(path + "-healthy", .image(ImageFixture.jpeg.array))
        _ = try await running.thumbnail(path + "-healthy", "w=8")
        defer { clock.advance(by: .seconds(11)) }
        for (number, exchange) in exchanges.enumerated() {
            let label = Comment(rawValue: "\(name), exchange \(number + 1)")
            running.origin.serve(path, answer(exchange, at: clock.secondsSince1970))
            let before = running.origin.hits(path)
            let fields = exchange.request.map { "Cache-Control: \($0)\r\n" } ?? ""
            let response = try await running.thumbnail(path, "w=8", fields: fields)
            let asked = running.origin.hits(path) > before
            #expect(response.status == exchange.answer, label)
            let last = running.origin.requests.last { $0.target == path }
            let isConditional = last?.value("If-None-Match") != nil || last?.value("If-Modified-Since") != nil
            let status = response.headerFields[.cacheStatus] ?? ""
            switch exchange.expectation {
            case .cached: #expect(!asked, label)
            case .notCached: #expect(asked && !status.contains("fwd-status=304"), label)
            case .validated:
                #expect(asked && isConditional && status.contains("alula-source;fwd="), label)
                #expect(status.contains("fwd-status=304"), label)
            }
            if let age = exchange.age { #expect(response.headerFields[.age] == String(age), label) }
            clock.advance(by: .seconds(exchange.pause))
        }
    }

    private func answer(_ exchange: Exchange, at now: Int) -> FakeResponse {
        if exchange.isCut { return .closing }
        if case .validated = exchange.expectation { return with(exchange.fields, FakeResponse(status: 304), at: now) }
        let isImage = (200..<300).contains(exchange.status)
        let plain =
            isImage
            ? FakeResponse(
                status: exchange.status, fields: [("Content-Type", "image/jpeg")], body: ImageFixture.jpeg.array)
            : .status(exchange.status)
        return with(exchange.fields, plain, at: now)
    }

    private func with(_ fields: [(String, Value)], _ answer: FakeResponse, at now: Int) -> FakeResponse {
        fields.reduce(answer) { $0.with($1.0, $1.1.text(at: now)) }
    }
}
