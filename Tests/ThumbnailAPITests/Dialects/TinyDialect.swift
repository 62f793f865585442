import Coordination
import Dialects
import HTTPTypes
import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// A minimal dialect with signatures, negotiation and error texts: `/t/SEAL/WIDTH/HOST/PATH`.
final class TinyDialect: RenditionDialect {
    let name = "tiny"
    private let place: String
    private let placeMatch: DialectMatch
    let signatures: DialectSignatures
    private let readings = Locked(0)

    init(at place: String = "/t/", matching placeMatch: DialectMatch = .exact, signatures: DialectSignatures = .none) {
        self.place = place
        self.placeMatch = placeMatch
        self.signatures = signatures
    }

    /// Number of parsed targets.
    var readingCount: Int { readings.withLock { $0 } }

    func match(on target: String) -> DialectMatch { target.hasPrefix(place) ? placeMatch : .none }

    func isAuthentic(_ target: RequestedTarget) -> Bool { segments(target).first == "seal" }

    func request(in target: RequestedTarget) throws(APIError) -> Request {
        readings.withLock { $0 += 1 }
        let segments = segments(target)
        guard segments.count == 3, let width = Int(segments[1]) else { throw .badParameter("width", "No number.") }
        var options = RenderingOptions()
        options.width = width
        options.format = .fixed(target.accept == "small" ? .webp : .png)
        return Request(source: ExactText("https://" + segments[2]), options: options)
    }

    func response(to problem: Problem) -> HTTPResponse {
        HTTPResponse(
            status: problem.error.code == "bad_parameter" ? .notFound : problem.error.status,
            headerFields: problem.common, body: .text("tiny " + problem.error.code))
    }

    func target(source: String, rendition: String) throws(APIError) -> String {
        guard source.hasPrefix("https://") else { throw .badURL("Not https.") }
        let target = "/t/seal/\(rendition)/\(source.dropFirst(8))"
        _ = try request(in: RequestedTarget(target))
        return target
    }

    private func segments(_ target: RequestedTarget) -> [String] {
        target.target.string.dropFirst(place.utf8.count).split(separator: "/", maxSplits: 2).map(String.init)
    }
}
