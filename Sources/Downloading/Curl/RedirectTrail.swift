import HTTPTypes
import Text

struct RedirectTrail {
    private(set) var current: SourceURL
    /// Whether a redirect led to another origin, even if a later one led back.
    private(set) var hasLeftOrigin = false
    private var restrictions: Set<ExactText> = []
    private var visited: Set<SourceURL>
    private let maximum: Int

    init(start: SourceURL, maximum: Int) {
        current = start
        visited = [start]
        self.maximum = maximum
    }

    /// Continues with the target of a redirect; the caller checks its address like the first URL's.
    mutating func follow(_ location: String) throws(DownloadError) {
        let target: SourceURL
        do throws(SourceURLError) {
            target = try current.redirected(to: location)
        } catch {
            throw .sourceNotAllowed("redirects: \(current.origin) redirects to a URL that is not allowed; \(error)")
        }
        guard current.scheme != "https" || target.scheme == "https" else {
            throw .sourceNotAllowed("redirects: \(current.origin) redirects from https to \(target.origin)")
        }
        guard visited.count <= maximum, visited.insert(target).inserted else { throw .tooManyRedirects }
        if target.origin != current.origin { hasLeftOrigin = true }
        current = target
    }

    /// Applies `Cache-Control` directives of a redirect to the final response, too.
    mutating func restrict(_ directives: Set<ExactText>) { restrictions.formUnion(directives) }

    func restricted(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        for directive in restrictions.sorted() { fields.append(.cacheControl, directive.string) }
        return fields
    }
}
