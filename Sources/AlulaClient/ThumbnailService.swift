public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A client of a service: creates its URLs, and sends requests to it.
///
/// ```swift
/// let service = try ThumbnailService(baseURL, key: SigningKey(hexadecimal: secret))
/// let url = service.url(of: ThumbnailRequest("https://example.com/a.jpg", Rendition(width: 300)))
/// ```
public struct ThumbnailService: Sendable {
    /// The URL of the service; its routes are below this path.
    public let baseURL: URL
    /// The `Accept` field of requests for images, which determines ``Rendition/Format/auto``.
    public var accept = "*/*"
    /// The maximum size of a response in bytes; a longer one causes ``ClientError/tooLarge``.
    public var maximumResponseBytes = 256 << 20
    /// The maximum size of one part of a multipart response in bytes; a longer one causes ``ClientError/tooLarge``.
    public var maximumPartBytes = 64 << 20
    let key: SigningKey?
    let transport: Transport

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the service, such as `https://thumbnails.example.com`.
    ///   - key: The key that signs URLs and uploads; nil if the service requires none.
    ///   - configuration: The configuration of the session: time limits, connections per host, HTTP cache (not
    ///     available on Linux).
    /// - Throws: ``ClientError/invalidBaseURL(_:)`` unless the URL is absolute, with `http` or `https`, and without a
    ///   query and a fragment.
    public init(
        _ baseURL: URL, key: SigningKey? = nil, configuration: URLSessionConfiguration = .ephemeral
    ) throws(ClientError) {
        guard ["http", "https"].contains(baseURL.scheme?.lowercased()), !(baseURL.host() ?? "").isEmpty,
            baseURL.query() == nil, baseURL.fragment() == nil
        else { throw .invalidBaseURL(baseURL) }
        self.baseURL = baseURL
        self.key = key
        transport = Transport(configuration)
    }

    /// Returns the URL of a thumbnail, signed if there is a key.
    public func url(of request: ThumbnailRequest) -> URL { url(target("/thumbnail", parameters: request.parameters)) }

    /// Returns the URL of the facts about a source, signed if there is a key.
    public func url(of request: InfoRequest) -> URL { url(target("/info", parameters: request.parameters)) }

    /// Returns a value of the `srcset` attribute with widths, such as `… 320w, … 640w`.
    ///
    /// In HTML, escape `&` as `&amp;`. Each width is the width of the file, so the request's device pixel ratio is
    /// ignored. If the request has both sides, the height keeps its ratio to the width.
    public func srcset(_ request: ThumbnailRequest, widths: [Int]) -> String {
        srcset(
            request,
            changes: widths.map { width in
                let change = { (rendition: inout Rendition) in
                    if let own = rendition.width, own > 0, let height = rendition.height {
                        rendition.height = max(1, Int((Double(height) * Double(width) / Double(own)).rounded()))
                    }
                    rendition.width = width
                    rendition.devicePixelRatio = nil
                    rendition.automatic = []
                }
                return ("\(width)w", change)
            })
    }

    /// Returns a value of the `srcset` attribute with densities, such as `… 1x, … 2x`.
    ///
    /// In HTML, escape `&` as `&amp;`.
    public func srcset(_ request: ThumbnailRequest, densities: [Double]) -> String {
        srcset(
            request,
            changes: densities.map { density in
                let change = { (rendition: inout Rendition) in
                    rendition.devicePixelRatio = density
                    rendition.automatic.remove(.devicePixelRatio)
                }
                return ("\(decimal(density, places: 3))x", change)
            })
    }

    private func srcset(_ request: ThumbnailRequest, changes: [(String, (inout Rendition) -> Void)]) -> String {
        changes.map { descriptor, change in
            var changed = request
            change(&changed.rendition)
            return "\(url(of: changed).absoluteString) \(descriptor)"
        }.joined(separator: ", ")
    }

    private func target(_ path: String, parameters: [Rendition.Parameter]) -> String {
        let target = "\(path)?\(parameters.map(\.text).joined(separator: "&"))"
        return key?.signed(target) ?? target
    }

    /// Returns the URL of a target, which is below the service's path as it was signed.
    func url(_ target: String) -> URL {
        let base = baseURL.absoluteString
        // Targets have only characters that URLs may have, so there is always a URL.
        return URL(string: (base.hasSuffix("/") ? String(base.dropLast()) : base) + target) ?? baseURL
    }
}
