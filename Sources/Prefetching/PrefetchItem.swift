package import Downloading
package import ThumbnailPipeline
package import ThumbnailTypes

package struct PrefetchItem: Sendable, Hashable {
    /// The request target, without spaces and line ends.
    package let target: String
    /// `NAME:PATH`; nil stores the thumbnail only in the caches.
    package let destination: String?
    /// `Cache-Control` of the stored object; nil uses the destination's or the thumbnail's own.
    package let cacheControl: String?

    package init(_ target: String, to destination: String? = nil, cacheControl: String? = nil) {
        self.target = target
        self.destination = destination
        self.cacheControl = cacheControl
    }
}

package struct PrefetchWork: Sendable {
    package let request: Request
    package let destination: Destination?
    let resultWriter: ResultWriter

    package init(
        _ request: Request, to destination: Destination? = nil, by resultWriter: ResultWriter = ResultWriter()
    ) {
        self.request = request
        self.destination = destination
        self.resultWriter = resultWriter
    }
}
