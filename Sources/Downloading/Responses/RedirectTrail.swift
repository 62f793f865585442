/// The URLs a transfer has been sent through, so that it neither loops nor goes on forever.
struct RedirectTrail {
    /// Where the transfer is now.
    private(set) var current: SourceURL
    private var visited: Set<SourceURL>
    private let maximum: Int

    init(start: SourceURL, maximum: Int) {
        current = start
        visited = [start]
        self.maximum = maximum
    }

    /// Goes on to the target of a redirect; the caller judges its address like a first URL's.
    mutating func follow(_ location: String) throws(DownloadError) {
        let target: SourceURL
        do throws(SourceURLError) {
            target = try current.redirected(to: location)
        } catch {
            throw .sourceNotAllowed
        }
        guard current.scheme != "https" || target.scheme == "https" else { throw .sourceNotAllowed }
        guard visited.count <= maximum, visited.insert(target).inserted else { throw .tooManyRedirects }
        current = target
    }
}
