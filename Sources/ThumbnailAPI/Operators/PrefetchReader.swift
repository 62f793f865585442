package import Dialects
import HTTPTypes
import JSON
import Memory
import Text
package import ThumbnailPipeline

/// Reads the body of `POST /prefetch`: `{"sources":[{"url":"…","renditions":["w=300&format=webp"]}]}`.
///
/// A rendition has the forms that `POST /thumbnails` takes; its name means nothing here.
package struct PrefetchReader: Sendable {
    /// Longest body in bytes.
    package static let longestBody = 1 << 20
    /// Most thumbnails of one job.
    static let mostItems = 10_000
    /// Most bytes of all targets of one job together: a short body can repeat a long URL.
    static let longestTargets = 1 << 20

    private let dialect: any RenditionDialect

    /// A reader of jobs whose renditions are written in `dialect`.
    package init(_ dialect: any RenditionDialect) {
        self.dialect = dialect
    }

    /// The targets of all thumbnails in a job's request, in its order, in the spelling in which they are stored:
    /// without line ends.
    ///
    /// - Throws: ``APIError`` that names the first thing that is wrong by its JSON Pointer (RFC 6901).
    func targets(in request: HTTPRequest) throws(APIError) -> [String] {
        guard JSONBody.isDeclared(in: request.headerFields) else { throw .unsupportedMediaType }
        let value = try JSONBody.value(in: request.body?.array ?? [])
        let sources = try JSONBody.elements(try JSONBody.members(value, "", ["sources"]), "sources", "")
        var job = JobTargets()
        for (number, source) in sources.enumerated() { try read(source, "/sources/\(number)", into: &job) }
        return job.targets
    }

    /// The request of a stored target; nil if the target is no longer valid.
    package func request(target: String) -> ThumbnailRequest? {
        (try? dialect.query(in: RequestedTarget(target)))?.request
    }

    private func read(_ source: JSONValue, _ place: String, into job: inout JobTargets) throws(APIError) {
        let members = try JSONBody.members(source, place, ["url", "renditions"])
        guard case .string(let url)? = members["url"] else { throw .badBody(place + "/url", "Must be a text.") }
        let renditions = try JSONBody.elements(members, "renditions", place)
        for (number, rendition) in renditions.enumerated() {
            let place = "\(place)/renditions/\(number)"
            let asked = try RenditionElement(rendition, at: number, place)
            guard case .query(let text) = asked.content else {
                throw .badBody(place + "/include", "A job makes images only.")
            }
            guard job.targets.count < Self.mostItems else {
                throw .badBody(place, "A job has at most \(Self.mostItems) thumbnails.")
            }
            job.append(try target(url: url, rendition: text, place))
            guard job.byteCount <= Self.longestTargets else {
                throw .badBody(
                    place, "A job's thumbnails have targets of at most \(Self.longestTargets) bytes together.")
            }
        }
    }

    private func target(url: String, rendition: String, _ place: String) throws(APIError) -> String {
        do throws(APIError) {
            return try dialect.target(source: url, rendition: rendition)
        } catch {
            if case .badBody(_, let reason) = error { throw .badBody(place, reason) }
            throw .badBody(place, "\(error.parameter.map { "\($0): " } ?? "")\(error.publicMessage)")
        }
    }
}

/// The targets of a job, as far as its body was read.
private struct JobTargets {
    private(set) var targets: [String] = []
    /// Bytes of all targets together.
    private(set) var byteCount = 0

    mutating func append(_ target: String) {
        targets.append(target)
        byteCount += target.utf8.count
    }
}
