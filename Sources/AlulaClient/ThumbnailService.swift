public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A running service: makes URLs of it, and asks it.
///
/// ```swift
/// let service = ThumbnailService(base, key: SigningKey(hexadecimal: secret))
/// let url = service.url(of: ThumbnailRequest("https://example.com/a.jpg", Rendition(width: 300)))
/// ```
public struct ThumbnailService: Sendable {
    /// The address of the service; its routes stand below the path.
    public let base: URL
    /// The field `Accept` of requests for images, which ``Rendition/Format/auto`` chooses by.
    public var accept = "*/*"
    /// Most bytes of one answer; a longer one is ``ClientError/tooLarge``.
    public var maximumAnswerBytes = 256 << 20
    /// Most bytes of one part of an answer with many; a longer one is ``ClientError/tooLarge``.
    public var maximumPartBytes = 64 << 20
    private let key: SigningKey?
    private let transport: Transport

    /// A service at an address.
    ///
    /// - Parameters:
    ///   - base: The address, such as `https://thumbnails.example.com`.
    ///   - key: The key that signs URLs and uploads; nil if the service needs none.
    ///   - configuration: The configuration of the session: time limits, connections to one host, HTTP cache (on Linux
    ///     there is none).
    public init(
        _ base: URL, key: SigningKey? = nil, configuration: URLSessionConfiguration = .ephemeral
    ) {
        (self.base, self.key) = (base, key)
        transport = Transport(configuration)
    }

    /// The URL of a thumbnail, signed if there is a key.
    public func url(of request: ThumbnailRequest) -> URL { url(target("/thumbnail", request.parameters)) }

    /// A value of the attribute `srcset` that names widths, such as `… 320w, … 640w`.
    ///
    /// In HTML, `&` is written as `&amp;`. Each width is that of the file, so the request's density does not count.
    public func srcset(_ request: ThumbnailRequest, widths: [Int]) -> String {
        srcset(
            request,
            widths.map { width in
                ("\(width)w", { ($0.width, $0.devicePixelRatio, $0.automatic) = (width, nil, []) })
            })
    }

    /// A value of the attribute `srcset` that names densities, such as `… 1x, … 2x`.
    ///
    /// In HTML, `&` is written as `&amp;`.
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

    /// The thumbnail of a source.
    ///
    /// - Throws: ``ClientError``.
    public func thumbnail(_ request: ThumbnailRequest) async throws(ClientError) -> Thumbnail {
        try await thumbnail(at: url(of: request))
    }

    /// The thumbnail at a URL of the service.
    ///
    /// - Throws: ``ClientError``.
    public func thumbnail(at url: URL) async throws(ClientError) -> Thumbnail {
        try await thumbnail(of: get(url, accept: accept))
    }

    /// The thumbnail of an image that is sent along; the service needs `uploads`.
    ///
    /// - Parameters:
    ///   - file: The image file.
    ///   - rendition: How the thumbnail looks.
    ///   - expires: The end of the signature's life.
    /// - Throws: ``ClientError``.
    public func thumbnail(
        ofFile file: Data, _ rendition: Rendition, expires: Date? = nil
    ) async throws(ClientError) -> Thumbnail {
        let parameters = rendition.parameters + ThumbnailRequest.parameters(expires: expires)
        return try await thumbnail(
            of: post(file, "application/octet-stream", to: "/thumbnail", parameters, accept: accept))
    }

    /// The URL of the facts about a source, signed if there is a key.
    public func url(of request: InfoRequest) -> URL { url(target("/info", request.parameters)) }

    /// Facts about a source.
    ///
    /// - Throws: ``ClientError``.
    public func info(_ request: InfoRequest) async throws(ClientError) -> ImageInfo {
        let answer = try await get(url(of: request), accept: "application/json")
        return try Answer.decoded(try await answer.success(), status: 200)
    }

    /// Facts about a source.
    ///
    /// - Parameters:
    ///   - source: An absolute URL, or `NAME:PATH` of a named origin.
    ///   - facts: Facts that take more than the header of the file.
    /// - Throws: ``ClientError``.
    public func info(
        of source: String, including facts: Set<ImageInfo.Fact> = []
    ) async throws(ClientError) -> ImageInfo {
        try await info(InfoRequest(source, including: facts))
    }

    /// Many results of one source, with one fetch and one decode.
    ///
    /// - Parameters:
    ///   - source: An absolute URL, or `NAME:PATH` of a named origin.
    ///   - orders: The results, up to 64.
    ///   - expires: The end of the signature's life.
    /// - Throws: ``ClientError`` if the list is refused; a result that fails is a part of its own.
    public func thumbnails(
        of source: String, _ orders: [RenditionOrder], expires: Date? = nil
    ) async throws(ClientError) -> ThumbnailParts {
        try await parts(list(orders, source: source), "application/json", expires)
    }

    /// Many results of an image that is sent along; the service needs `uploads`.
    ///
    /// - Parameters:
    ///   - file: The image file.
    ///   - orders: The results, up to 64.
    ///   - expires: The end of the signature's life.
    /// - Throws: ``ClientError`` if the list is refused; a result that fails is a part of its own.
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
        // Texts alone always have a form in JSON.
        (try? JSONEncoder().encode(List(url: source, renditions: orders))) ?? Data()
    }

    private func parts(_ body: Data, _ mediaType: String, _ expires: Date?) async throws(ClientError) -> ThumbnailParts
    {
        let answer = try await post(
            body, mediaType, to: "/thumbnails", ThumbnailRequest.parameters(expires: expires),
            accept: "multipart/mixed")
        // An answer in which nothing was made has the status of a failure, and parts.
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

    /// The URL of a target, which stands below the base's path as it was signed.
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
