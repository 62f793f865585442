public import Foundation

/// A source, and how its thumbnail looks.
public struct ThumbnailRequest: Hashable, Sendable {
    /// An absolute URL, or `NAME:PATH` of a named origin.
    public var source: String
    /// How the thumbnail looks.
    public var rendition: Rendition
    /// The color that is sent instead if the source fails.
    public var placeholder: Rendition.Color?
    /// The time after which the URL is refused.
    public var expires: Date?

    /// A thumbnail of a source.
    public init(
        _ source: String, _ rendition: Rendition = Rendition(), placeholder: Rendition.Color? = nil,
        expires: Date? = nil
    ) {
        (self.source, self.rendition, self.placeholder, self.expires) = (source, rendition, placeholder, expires)
    }

    /// The parameters that have a value; the signature is none of them.
    public var parameters: [Rendition.Parameter] {
        var parameters = [Rendition.Parameter("url", source)] + rendition.parameters
        if let placeholder { parameters.append(Rendition.Parameter("placeholder", placeholder.text)) }
        return parameters + Self.parameters(expires: expires)
    }

    /// The parameter `expires`, if there is such a time.
    static func parameters(expires: Date?) -> [Rendition.Parameter] {
        expires.map { [Rendition.Parameter("expires", String(Int($0.timeIntervalSince1970.rounded(.up))))] } ?? []
    }
}

/// One of several results of one source.
public struct RenditionOrder: Encodable, Hashable, Sendable {
    /// The name of its part; nil for its index.
    public let name: String?
    private let query: String?
    private let include: String?

    /// A thumbnail.
    public static func thumbnail(_ rendition: Rendition, named name: String? = nil) -> RenditionOrder {
        RenditionOrder(name: name, query: rendition.query, include: nil)
    }

    /// The facts of ``ThumbnailService/info(of:including:)``.
    public static func info(_ facts: Set<ImageInfo.Fact> = [], named name: String? = nil) -> RenditionOrder {
        RenditionOrder(name: name, query: nil, include: ImageInfo.Fact.text(facts))
    }
}
