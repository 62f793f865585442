public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A client of a service: creates its URLs, and sends requests to it.
///
/// ```swift
/// let service = ThumbnailService(base, key: SigningKey(hexadecimal: secret))
/// let url = service.url(of: ThumbnailRequest("https://example.com/a.jpg", Rendition(width: 300)))
/// ```
public struct ThumbnailService: Sendable {
    /// The base URL of the service; its routes are below this path.
    public let base: URL
    /// The `Accept` field of requests for images, which determines ``Rendition/Format/auto``.
    public var accept = "*/*"
    /// The maximum size of a response in bytes; a longer one causes ``ClientError/tooLarge``.
    public var maximumAnswerBytes = 256 << 20
    /// The maximum size of one part of a multipart response in bytes; a longer one causes ``ClientError/tooLarge``.
    public var maximumPartBytes = 64 << 20
    private let key: SigningKey?
    private let transport: Transport

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - base: The base URL, such as `https://thumbnails.example.com`.
    ///   - key: The key that signs URLs and uploads; nil if the service requires none.
    ///   - configuration: The configuration of the session: time limits, connections per host, HTTP cache (not
    ///     available on Linux).
    public init(
        _ base: URL, key: SigningKey? = nil, configuration: URLSessionConfiguration = .ephemeral
    ) {
        (self.base, self.key) = (base, key)
        transport = Transport(configuration)
    }

    /// Returns the URL of a thumbnail, signed if there is a key.
    public func url(of request: ThumbnailRequest) -> URL { url(target("/thumbnail", request.parameters)) }

    /// Returns a value of the `srcset` attribute with widths, such as `… 320w, … 640w`.
    ///
    /// In HTML, escape `&` as `&amp;`. Each width is the width of the file, so the request's device pixel ratio is
    /// ignored.
    public func srcset(_ request: ThumbnailRequest, widths: [Int]) -> String {
        srcset(
            request,
            widths.map { width in
                ("\(width)w", { ($0.width, $0.devicePixelRatio, $0.automatic) = (width, nil, []) })
            })
    }

    /// Returns a value of the `srcset` attribute with densities, such as `… 1x, … 2x`.
    ///
    /// In HTML, escape `&` as `&amp;`.
    public func srcset(_ request: ThumbnailRequest, densities: [Double]) -> String {
        srcset(
            request,
            densities.map { density in
                let change = { (rendition: inout Rendition) in
                    rendition.devicePixelRatio = density
                    rendition.automatic.remove(.devicePixelRatio)
                }
                return ("\(decimal(density, places: 3))x", change)
            })
    }

    private func srcset(_ request: ThumbnailRequest, _ changes: [(String, (inout Rendition) -> Void)]) -> String {
        changes.map { descriptor, change in
            var changed = request
            change(&changed.rendition)
            return "\(url(of: changed).absoluteString) \(descriptor)"
        }.joined(separator: ", ")
    }

    /// Returns the thumbnail of a source.
    ///
    /// - Throws: ``ClientError``.
    public func thumbnail(_ request: ThumbnailRequest) async throws(ClientError) -> Thumbnail {
        try await thumbnail(at: url(of: request))
    }

    /// Returns the thumbnail at a URL of the service.
    ///
    /// - Throws: ``ClientError``.
    public func thumbnail(at url: URL) async throws(ClientError) -> Thumbnail {
        try await thumbnail(of: get(url, accept: accept))
    }

    /// Returns the thumbnail of an uploaded image; requires the service's `uploads` setting.
    ///
    /// - Parameters:
    ///   - file: The image file.
    ///   - rendition: The appearance of the thumbnail.
    ///   - expires: The time at which the signature expires.
    /// - Throws: ``ClientError``.
    public func thumbnail(
        ofFile file: Data, _ rendition: Rendition, expires: Date? = nil
    ) async throws(ClientError) -> Thumbnail {
        let parameters = rendition.parameters + ThumbnailRequest.parameters(expires: expires)
        return try await thumbnail(
            of: post(file, "application/octet-stream", to: "/thumbnail", parameters, accept: accept))
    }

    /// Returns the URL of the facts about a source, signed if there is a key.
    public func url(of request: InfoRequest) -> URL { url(target("/info", request.parameters)) }

    /// Returns facts about a source.
    ///
    /// - Throws: ``ClientError``.
    public func info(_ request: InfoRequest) async throws(ClientError) -> ImageInfo {
        let answer = try await get(url(of: request), accept: "application/json")
        return try Answer.decoded(try await answer.success(), status: 200)
    }

    /// Returns facts about a source.
    ///
    /// - Parameters:
    ///   - source: An absolute URL, or `NAME:PATH` of a named origin.
    ///   - facts: Facts that are not in the header of the file.
    /// - Throws: ``ClientError``.
    public func info(
        of source: String, including facts: Set<ImageInfo.Fact> = []
    ) async throws(ClientError) -> ImageInfo {
        try await info(InfoRequest(source, including: facts))
    }

    /// Returns several results for one source, with a single fetch and decode.
    ///
    /// - Parameters:
    ///   - source: An absolute URL, or `NAME:PATH` of a named origin.
    ///   - orders: The results, up to 64.
    ///   - expires: The time at which the signature expires.
    /// - Throws: ``ClientError`` if the list is rejected; a failed result is a separate part.
    public func thumbnails(
        of source: String, _ orders: [RenditionOrder], expires: Date? = nil
    ) async throws(ClientError) -> ThumbnailParts {
        try await parts(list(orders, source: source), "application/json", expires)
    }

    /// Returns several results for an uploaded image; requires the service's `uploads` setting.
    ///
    /// - Parameters:
    ///   - file: The image file.
    ///   - orders: The results, up to 64.
    ///   - expires: The time at which the signature expires.
    /// - Throws: ``ClientError`` if the list is rejected; a failed result is a separate part.
    public func thumbnails(
        ofFile file: Data, _ orders: [RenditionOrder], expires: Date? = nil
    ) async throws(ClientError) -> ThumbnailParts {
        let boundary = "alula-\(UUID().uuidString)"
        var form = Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n".utf8)
        form += list(orders, source: nil)
        let field = "Content-Disposition: form-data; name=\"file\"; filename=\"image\""
        form += Data("\r\n--\(boundary)\r\n\(field)\r\n\r\n".utf8)
        form += file
        form += Data("\r\n--\(boundary)--\r\n".utf8)
        return try await parts(form, "multipart/form-data; boundary=\(boundary)", expires)
    }
}

extension ThumbnailService {
    private struct List: Encodable {
        let url: String?
        let renditions: [RenditionOrder]
    }

    private func list(_ orders: [RenditionOrder], source: String?) -> Data {
        // Strings can always be encoded as JSON.
        (try? JSONEncoder().encode(List(url: source, renditions: orders))) ?? Data()
    }

    private func parts(_ body: Data, _ mediaType: String, _ expires: Date?) async throws(ClientError) -> ThumbnailParts
    {
        let answer = try await post(
            body, mediaType, to: "/thumbnails", ThumbnailRequest.parameters(expires: expires),
            accept: "multipart/mixed")
        // A response in which all results failed has an error status, and parts.
        let mediaType = answer.field("Content-Type") ?? ""
        if let reader = MultipartReader(mediaType: mediaType, longestPart: maximumPartBytes) {
            return ThumbnailParts(answer: answer, reader: reader)
        }
        _ = try await answer.success()
        throw answer.unexpected
    }

    private func thumbnail(of answer: Answer) async throws(ClientError) -> Thumbnail {
        let data = try await answer.success()
        guard answer.mediaType?.hasPrefix("image/") ?? false else { throw answer.unexpected }
        return Thumbnail(data: data, field: answer.field)
    }

    private func target(_ path: String, _ parameters: [Rendition.Parameter]) -> String {
        let target = "\(path)?\(parameters.map(\.text).joined(separator: "&"))"
        return key?.signed(target) ?? target
    }

    /// Returns the URL of a target, which is below the base's path as it was signed.
    private func url(_ target: String) -> URL {
        let base = base.absoluteString
        return URL(string: (base.hasSuffix("/") ? String(base.dropLast()) : base) + target) ?? self.base
    }

    private func get(_ url: URL, accept: String) async throws(ClientError) -> Answer {
        var request = URLRequest(url: url)
        request.setValue(accept, forHTTPHeaderField: "Accept")
        return try await transport.send(request, limit: maximumAnswerBytes)
    }

    private func post(
        _ body: Data, _ mediaType: String, to path: String, _ parameters: [Rendition.Parameter], accept: String
    ) async throws(ClientError) -> Answer {
        let query = parameters.map(\.text).joined(separator: "&")
        let target = query.isEmpty ? path : "\(path)?\(query)"
        var request = URLRequest(url: url(target))
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue(accept, forHTTPHeaderField: "Accept")
        request.setValue(mediaType, forHTTPHeaderField: "Content-Type")
        let fields = key?.fields(target: target, mediaType: mediaType, accept: accept, body: body) ?? []
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return try await transport.send(request, limit: maximumAnswerBytes)
    }
}
