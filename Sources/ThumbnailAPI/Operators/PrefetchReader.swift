package import Dialects
package import Downloading
import HTTPTypes
import JSON
import Memory
import Text
package import ThumbnailPipeline

/// Reads the body of `POST /prefetch`: `{"sources":[{"url":"…","renditions":["w=300&format=webp"]}],"callback":"…"}`.
///
/// A rendition has the forms that `POST /thumbnails` takes, with a destination, too; its name means nothing here.
package struct PrefetchReader: Sendable {
    /// Longest body in bytes.
    package static let longestBody = 1 << 20
    /// Most thumbnails of one job.
    static let mostItems = 10_000
    /// Most bytes of all targets of one job together: a short body can repeat a long URL.
    static let longestTargets = 1 << 20

    /// The setting that forbids a callback, and what it forbids; nil if it is allowed.
    package typealias CallbackObjection = @Sendable (SourceURL) -> String?

    private let dialect: any RenditionDialect
    private let placer: ResultPlacer
    private let objection: CallbackObjection

    /// A reader of jobs whose renditions are written in `dialect`, whose destinations `placer` judges and whose
    /// callbacks `objection`.
    package init(
        _ dialect: any RenditionDialect, placing placer: ResultPlacer = ResultPlacer(),
        callbacks objection: @escaping CallbackObjection = { _ in nil }
    ) {
        self.dialect = dialect
        self.placer = placer
        self.objection = objection
    }

    /// A job's request.
    ///
    /// - Throws: ``APIError`` that names the first thing that is wrong by its JSON Pointer (RFC 6901).
    func job(in request: HTTPRequest) throws(APIError) -> RequestedJob {
        guard JSONBody.isDeclared(in: request.headerFields) else { throw .unsupportedMediaType }
        let value = try JSONBody.value(in: request.body?.array ?? [])
        let members = try JSONBody.members(value, "", ["sources", "callback"])
        var job = RequestedJob()
        for (number, source) in try JSONBody.elements(members, "sources", "").enumerated() {
            try read(source, "/sources/\(number)", into: &job)
        }
        job.callback = try members["callback"].map { (value) throws(APIError) in try callback(value) }
        return job
    }

    private func callback(_ value: JSONValue) throws(APIError) -> SourceURL {
        guard case .string(let text) = value, !text.utf8.contains(UInt8(ascii: "#")),
            let url = try? SourceURL(parsing: text)
        else { throw .badBody("/callback", "Must be an absolute http or https URL without user and fragment.") }
        if let rule = objection(url) { throw .callbackNotAllowed(rule) }
        return url
    }

    /// The work of a stored item; nil if its target or its destination is no longer valid.
    package func work(of item: PrefetchItem) -> PrefetchWork? {
        guard let request = (try? dialect.query(in: RequestedTarget(item.target)))?.request else { return nil }
        guard let text = item.destination else { return PrefetchWork(request) }
        guard var destination = try? placer.destination(ExactText(text)) else { return nil }
        destination.cacheControl = item.cacheControl ?? destination.cacheControl
        return PrefetchWork(request, to: destination)
    }

    private func read(_ source: JSONValue, _ place: String, into job: inout RequestedJob) throws(APIError) {
        let members = try JSONBody.members(source, place, ["url", "renditions"])
        guard case .string(let url)? = members["url"] else { throw .badBody(place + "/url", "Must be a text.") }
        let renditions = try JSONBody.elements(members, "renditions", place)
        for (number, rendition) in renditions.enumerated() {
            let place = "\(place)/renditions/\(number)"
            let asked = try RenditionElement(rendition, at: number, place)
            guard case .query(let text) = asked.content else {
                throw .badBody(place + "/include", "A job makes images only.")
            }
            guard job.items.count < Self.mostItems else {
                throw .badBody(place, "A job has at most \(Self.mostItems) thumbnails.")
            }
            let destination = try asked.place(placer, place)
            let item = PrefetchItem(
                try target(url: url, rendition: text, place).replacing("\t", with: "%09"), to: destination?.location,
                cacheControl: asked.cacheControl)
            guard job.append(item) else {
                throw .badBody(place + "/to", "Another rendition has this destination.")
            }
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

/// A job, as far as its body was read.
struct RequestedJob {
    /// All its thumbnails in order, in the spelling in which they are stored: without tabs and line ends.
    private(set) var items: [PrefetchItem] = []
    private var destinations: Set<ExactText> = []
    /// Bytes of all targets and destinations together.
    fileprivate private(set) var byteCount = 0
    /// The URL that is told its end; nil for none.
    fileprivate(set) var callback: SourceURL?

    /// Adds a thumbnail; false if another one has its destination.
    fileprivate mutating func append(_ item: PrefetchItem) -> Bool {
        items.append(item)
        byteCount += [item.target, item.destination ?? "", item.cacheControl ?? ""].reduce(0) { $0 + $1.utf8.count }
        return item.destination.map { destinations.insert(ExactText($0)).inserted } ?? true
    }
}
