public import Foundation

/// A source and the appearance of its thumbnail.
public struct ThumbnailRequest: Hashable, Sendable {
    /// An absolute URL, or `NAME:PATH` of a named origin.
    public var source: String
    /// The appearance of the thumbnail.
    public var rendition: Rendition
    /// The color of the placeholder that is sent if the source fails.
    public var placeholder: Rendition.Color?
    /// The time after which the service rejects the URL.
    public var expires: Date?

    /// Creates a request for a thumbnail of a source.
    public init(
        _ source: String, _ rendition: Rendition = Rendition(), placeholder: Rendition.Color? = nil,
        expires: Date? = nil
    ) {
        (self.source, self.rendition, self.placeholder, self.expires) = (source, rendition, placeholder, expires)
    }

    /// The parameters that have a value, without the signature.
    public var parameters: [Rendition.Parameter] {
        var parameters = [Rendition.Parameter("url", source)] + rendition.parameters
        if let placeholder { parameters.append(Rendition.Parameter("placeholder", placeholder.text)) }
        return parameters + Self.parameters(expires: expires)
    }

    /// Returns the `expires` parameter, if there is such a time.
    static func parameters(expires: Date?) -> [Rendition.Parameter] {
        expires.map { [Rendition.Parameter("expires", String(Int($0.timeIntervalSince1970.rounded(.up))))] } ?? []
    }
}

/// One of several results to request for one source.
public struct RenditionOrder: Encodable, Hashable, Sendable {
    /// The name of its part; nil uses its index.
    public let name: String?
    private let query: String?
    private let include: String?

    /// Requests a thumbnail.
    public static func thumbnail(_ rendition: Rendition, named name: String? = nil) -> RenditionOrder {
        RenditionOrder(name: name, query: rendition.query, include: nil)
    }

    /// Requests the facts of ``ThumbnailService/info(of:including:)``.
    public static func info(_ facts: Set<ImageInfo.Fact> = [], named name: String? = nil) -> RenditionOrder {
        RenditionOrder(name: name, query: nil, include: ImageInfo.Fact.text(facts))
    }
}
