public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ThumbnailService {
    /// Returns the thumbnail of a source.
    ///
    /// - Parameters:
    ///   - request: The source and the appearance of the thumbnail.
    ///   - cached: An earlier copy; see ``thumbnail(at:revalidating:)``.
    /// - Throws: ``ClientError``.
    public func thumbnail(
        _ request: ThumbnailRequest, revalidating cached: Thumbnail? = nil
    ) async throws(ClientError) -> Thumbnail {
        try await thumbnail(at: url(of: request), revalidating: cached)
    }

    /// Returns the thumbnail at a URL of the service.
    ///
    /// - Parameters:
    ///   - url: The URL, as ``url(of:)-(ThumbnailRequest)`` creates it.
    ///   - cached: An earlier copy. If the image has not changed since, the service answers without it
    ///     (`If-None-Match`), and the copy is returned with its new lifetime.
    /// - Throws: ``ClientError``.
    public func thumbnail(
        at url: URL, revalidating cached: Thumbnail? = nil
    ) async throws(ClientError) -> Thumbnail {
        try await thumbnail(at: url, revalidating: cached) { _ in }
    }

    /// Returns the thumbnail at a URL of the service.
    ///
    /// - Parameter progress: Called while the image arrives, on the caller's actor.
    func thumbnail(
        at url: URL, revalidating cached: Thumbnail?, progress: (TransferProgress) -> Void
    ) async throws(ClientError) -> Thumbnail {
        var request = URLRequest(url: url)
        request.setValue(accept, forHTTPHeaderField: "Accept")
        if let tag = cached?.entityTag {
            request.setValue(tag, forHTTPHeaderField: "If-None-Match")
            // The session's cache must not respond to the condition itself.
            request.cachePolicy = .reloadIgnoringLocalCacheData
        }
        let response = try await transport.send(request, limit: maximumResponseBytes)
        if response.status == 304, var cached {
            _ = try await response.body()
            cached.refresh(field: response.field)
            return cached
        }
        return try await thumbnail(of: response, progress: progress)
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
        try await thumbnail(of: .bytes(file), rendition, expires: expires) { _ in }
    }

    /// Returns the thumbnail of an image file, which is read while it is sent; requires the service's `uploads`
    /// setting.
    ///
    /// With a signing key the file is read twice, because the signature covers its hash.
    ///
    /// - Parameters:
    ///   - file: The URL of the image file.
    ///   - rendition: The appearance of the thumbnail.
    ///   - expires: The time at which the signature expires.
    ///   - progress: Called while the file is sent, on the caller's actor.
    /// - Throws: ``ClientError``.
    public func thumbnail(
        ofFile file: URL, _ rendition: Rendition, expires: Date? = nil,
        progress: (TransferProgress) -> Void = { _ in }
    ) async throws(ClientError) -> Thumbnail {
        try await thumbnail(of: .file(file), rendition, expires: expires, progress: progress)
    }

    /// Returns facts about a source.
    ///
    /// - Throws: ``ClientError``.
    public func info(_ request: InfoRequest) async throws(ClientError) -> ImageInfo {
        var get = URLRequest(url: url(of: request))
        get.setValue("application/json", forHTTPHeaderField: "Accept")
        let response = try await transport.send(get, limit: maximumResponseBytes)
        return try ServiceResponse.decoded(try await response.successBody(), status: 200)
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

    /// Returns facts about the image at a URL.
    ///
    /// - Parameters:
    ///   - source: The absolute URL of the image.
    ///   - facts: Facts that are not in the header of the file.
    /// - Throws: ``ClientError``.
    public func info(
        of source: URL, including facts: Set<ImageInfo.Fact> = []
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
        let body = try UploadBody([.bytes(list(orders, source: source))])
        return try await parts(body, mediaType: "application/json", expires: expires)
    }

    /// Returns several results for the image at a URL, with a single fetch and decode.
    ///
    /// - Parameters:
    ///   - source: The absolute URL of the image.
    ///   - orders: The results, up to 64.
    ///   - expires: The time at which the signature expires.
    /// - Throws: ``ClientError`` if the list is rejected; a failed result is a separate part.
    public func thumbnails(
        of source: URL, _ orders: [RenditionOrder], expires: Date? = nil
    ) async throws(ClientError) -> ThumbnailParts {
        try await thumbnails(of: source.absoluteString, orders, expires: expires)
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
        try await parts(ofFile: .bytes(file), orders, expires: expires)
    }

    /// Returns several results for an image file, which is read while it is sent; requires the service's `uploads`
    /// setting.
    ///
    /// With a signing key the file is read twice, because the signature covers its hash.
    ///
    /// - Parameters:
    ///   - file: The URL of the image file.
    ///   - orders: The results, up to 64.
    ///   - expires: The time at which the signature expires.
    ///   - progress: Called while the file is sent, on the caller's actor.
    /// - Throws: ``ClientError`` if the list is rejected; a failed result is a separate part.
    public func thumbnails(
        ofFile file: URL, _ orders: [RenditionOrder], expires: Date? = nil,
        progress: (TransferProgress) -> Void = { _ in }
    ) async throws(ClientError) -> ThumbnailParts {
        try await parts(ofFile: .file(file), orders, expires: expires, progress: progress)
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

    private func thumbnail(
        of file: UploadBody.Piece, _ rendition: Rendition, expires: Date?, progress: (TransferProgress) -> Void
    ) async throws(ClientError) -> Thumbnail {
        let parameters = rendition.parameters + ThumbnailRequest.parameters(expires: expires)
        let response = try await post(
            UploadBody([file]), mediaType: "application/octet-stream", to: "/thumbnail", parameters: parameters,
            accept: accept, progress: progress)
        return try await thumbnail(of: response) { _ in }
    }

    private func thumbnail(
        of response: ServiceResponse, progress: (TransferProgress) -> Void
    ) async throws(ClientError) -> Thumbnail {
        let data = try await response.successBody(progress: progress)
        guard response.mediaType?.hasPrefix("image/") ?? false else { throw response.unexpectedError }
        return Thumbnail(data: data, field: response.field)
    }

    private func parts(
        ofFile file: UploadBody.Piece, _ orders: [RenditionOrder], expires: Date?,
        progress: (TransferProgress) -> Void = { _ in }
    ) async throws(ClientError) -> ThumbnailParts {
        let boundary = "alula-\(UUID().uuidString)"
        var head = Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n".utf8)
        head += list(orders, source: nil)
        let field = "Content-Disposition: form-data; name=\"file\"; filename=\"image\""
        head += Data("\r\n--\(boundary)\r\n\(field)\r\n\r\n".utf8)
        let end = Data("\r\n--\(boundary)--\r\n".utf8)
        let body = try UploadBody([.bytes(head), file, .bytes(end)])
        return try await parts(
            body, mediaType: "multipart/form-data; boundary=\(boundary)", expires: expires, progress: progress)
    }

    private func parts(
        _ body: UploadBody, mediaType: String, expires: Date?, progress: (TransferProgress) -> Void = { _ in }
    ) async throws(ClientError) -> ThumbnailParts {
        let response = try await post(
            body, mediaType: mediaType, to: "/thumbnails", parameters: ThumbnailRequest.parameters(expires: expires),
            accept: "multipart/mixed", progress: progress)
        // A response in which all results failed has an error status, and parts.
        let mediaType = response.field("Content-Type") ?? ""
        if let reader = MultipartReader(mediaType: mediaType, longestPart: maximumPartBytes) {
            return ThumbnailParts(response: response, reader: reader)
        }
        _ = try await response.successBody()
        throw response.unexpectedError
    }

    private func post(
        _ body: UploadBody, mediaType: String, to path: String, parameters: [Rendition.Parameter], accept: String,
        progress: (TransferProgress) -> Void
    ) async throws(ClientError) -> ServiceResponse {
        let query = parameters.map(\.text).joined(separator: "&")
        let unnamed = query.isEmpty ? path : "\(path)?\(query)"
        let target = key?.named(unnamed) ?? unnamed
        var request = URLRequest(url: url(target))
        request.httpMethod = "POST"
        request.setValue(accept, forHTTPHeaderField: "Accept")
        request.setValue(mediaType, forHTTPHeaderField: "Content-Type")
        if let key {
            let digest = try await body.digest()
            for (name, value) in key.fields(target: target, mediaType: mediaType, accept: accept, digest: digest) {
                request.setValue(value, forHTTPHeaderField: name)
            }
        }
        return try await transport.send(request, body: body, limit: maximumResponseBytes, progress: progress)
    }
}
