struct RedirectTrail {
    private(set) var current: SourceURL
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
        current = target
    }
}
