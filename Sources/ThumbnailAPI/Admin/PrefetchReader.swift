package import Dialects
package import Downloading
import HTTPTypes
import JSON
import Memory
package import Prefetching
import Text
package import ThumbnailPipeline
import ThumbnailTypes

/// Reads prefetch jobs: `{"sources":[{"url":"…","renditions":["w=300&format=webp"]}],"callback":"…"}`.
///
/// A rendition has the same forms as in `POST /thumbnails`, including a destination; its name is ignored.
package struct PrefetchReader: Sendable {
    package static let longestBody = 1 << 20
    static let maximumItems = 10_000
    /// The limit on the bytes of all targets, because a short body can repeat a long URL.
    static let longestTargets = 1 << 20

    /// Returns the setting that forbids a callback URL, and the reason; nil if the URL is allowed.
    package typealias CallbackViolation = @Sendable (SourceURL) -> String?

    private let dialect: any RenditionDialect
    private let resultWriter: ResultWriter
    private let violation: CallbackViolation

    /// - Parameters:
    ///   - dialect: The dialect of the renditions.
    ///   - resultWriter: Checks destinations.
    ///   - violation: Checks callbacks.
    package init(
        _ dialect: any RenditionDialect, placing resultWriter: ResultWriter = ResultWriter(),
        callbacks violation: @escaping CallbackViolation = { _ in nil }
    ) {
        self.dialect = dialect
        self.resultWriter = resultWriter
        self.violation = violation
    }

    func job(in request: HTTPRequest) throws(APIError) -> RequestedJob {
        guard JSONBody.isDeclared(in: request.headerFields) else { throw .unsupportedMediaType }
        let value = try JSONBody.value(in: request.body?.array ?? [])
        let members = try JSONBody.members(of: value, at: "", allowing: ["sources", "callback"])
        var job = RequestedJob()
        for (number, source) in try JSONBody.elements(of: members, named: "sources", at: "").enumerated() {
            try read(source, at: "/sources/\(number)", into: &job)
        }
        job.callback = try members["callback"].map { (value) throws(APIError) in try callback(value) }
        return job
    }

    private func callback(_ value: JSONValue) throws(APIError) -> SourceURL {
        guard case .string(let text) = value, !text.utf8.contains(UInt8(ascii: "#")),
            let url = try? SourceURL(parsing: text)
        else { throw .badBody("/callback", "Must be an absolute http or https URL without user and fragment.") }
        if let rule = violation(url) { throw .callbackNotAllowed(rule) }
        return url
    }

    /// Returns nil if the item's target or destination is no longer valid.
    package func work(of item: PrefetchItem) -> PrefetchWork? {
        guard let request = try? dialect.request(in: RequestedTarget(item.target)) else { return nil }
        guard let text = item.destination else { return PrefetchWork(request) }
        guard var destination = try? resultWriter.destination(ExactText(text)) else { return nil }
        destination.cacheControl = item.cacheControl ?? destination.cacheControl
        return PrefetchWork(request, to: destination, by: resultWriter)
    }

    private func read(_ source: JSONValue, at pointer: String, into job: inout RequestedJob) throws(APIError) {
        let members = try JSONBody.members(of: source, at: pointer, allowing: ["url", "renditions"])
        guard case .string(let url)? = members["url"] else { throw .badBody(pointer + "/url", "Must be a string.") }
        let renditions = try JSONBody.elements(of: members, named: "renditions", at: pointer)
        for (number, rendition) in renditions.enumerated() {
            let pointer = "\(pointer)/renditions/\(number)"
            let element = try RenditionElement(rendition, index: number, pointer: pointer)
            guard case .query(let text) = element.content else {
                throw .badBody(pointer + "/include", "A job makes images only.")
            }
            guard job.items.count < Self.maximumItems else {
                throw .badBody(pointer, "A job has at most \(Self.maximumItems) thumbnails.")
            }
            let destination = try element.checkDestination(by: resultWriter, pointer: pointer)
            let item = PrefetchItem(
                try target(url: url, rendition: text, pointer: pointer).replacing("\t", with: "%09"),
                to: destination?.location, cacheControl: element.cacheControl)
            guard job.append(item) else { throw .badBody(pointer + "/to", "Another rendition has this destination.") }
            guard job.byteCount <= Self.longestTargets else {
                throw .badBody(
                    pointer, "A job's thumbnails have targets of at most \(Self.longestTargets) bytes together.")
            }
        }
    }

    private func target(url: String, rendition: String, pointer: String) throws(APIError) -> String {
        do throws(APIError) {
            return try dialect.target(source: url, rendition: rendition)
        } catch {
            let parameter = error.code == "bad_body" ? nil : error.parameter
            throw .badBody(pointer, "\(parameter.map { "\($0): " } ?? "")\(error.publicMessage)")
        }
    }
}

struct RequestedJob {
    /// The items in order; they contain no tabs and line ends.
    private(set) var items: [PrefetchItem] = []
    private var destinations: Set<ExactText> = []
    fileprivate private(set) var byteCount = 0
    fileprivate(set) var callback: SourceURL?

    /// Returns false if another item has the same destination.
    fileprivate mutating func append(_ item: PrefetchItem) -> Bool {
        items.append(item)
        byteCount += [item.target, item.destination ?? "", item.cacheControl ?? ""].reduce(0) { $0 + $1.utf8.count }
        return item.destination.map { destinations.insert(ExactText($0)).inserted } ?? true
    }
}
