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
        self.source = source
        self.rendition = rendition
        self.placeholder = placeholder
        self.expires = expires
    }

    /// Creates a request for a thumbnail of the image at a URL.
    public init(
        _ source: URL, _ rendition: Rendition = Rendition(), placeholder: Rendition.Color? = nil,
        expires: Date? = nil
    ) {
        self.init(source.absoluteString, rendition, placeholder: placeholder, expires: expires)
    }

    /// The parameters that have a value, without the signature.
    public var parameters: [Rendition.Parameter] {
        var parameters = [Rendition.Parameter("url", source)] + rendition.parameters
        if let placeholder { parameters.append(Rendition.Parameter("placeholder", placeholder.text)) }
        return parameters + Self.parameters(expires: expires)
    }

    /// Returns the `expires` parameter, if there is such a time.
    static func parameters(expires: Date?) -> [Rendition.Parameter] {
        guard let expires else { return [] }
        // Any date is a number here; `Int` has 32 bits on some watches.
        let seconds = Int64(max(0, min(expires.timeIntervalSince1970.rounded(.up), 253_402_300_799)))
        return [Rendition.Parameter("expires", String(seconds))]
    }
}

/// One of several results to request for one source.
public struct RenditionOrder: Encodable, Hashable, Sendable {
    /// The name of its part; nil uses its index.
    public let name: String?
    private var query: String?
    private var include: String?
    private var to: String?
    private var cacheControl: String?

    /// Requests a thumbnail.
    ///
    /// - Parameters:
    ///   - rendition: The appearance of the thumbnail.
    ///   - name: The name of its part; nil uses its index.
    public static func thumbnail(_ rendition: Rendition, named name: String? = nil) -> RenditionOrder {
        RenditionOrder(name: name, query: rendition.query)
    }

    /// Requests a thumbnail that the service writes into a folder or bucket; requires a signing key.
    ///
    /// - Parameters:
    ///   - rendition: The appearance of the thumbnail.
    ///   - destination: `NAME:PATH` in a named origin with `write: true`. An existing file is replaced.
    ///   - cacheControl: The `Cache-Control` of the object in a bucket; nil for the origin's, or else the source's.
    ///   - name: The name of its part; nil uses its index.
    public static func thumbnail(
        _ rendition: Rendition, to destination: String, cacheControl: String? = nil, named name: String? = nil
    ) -> RenditionOrder {
        RenditionOrder(name: name, query: rendition.query, to: destination, cacheControl: cacheControl)
    }

    /// Requests facts about the source, as an ``ImageInfo``.
    public static func info(_ facts: Set<ImageInfo.Fact> = [], named name: String? = nil) -> RenditionOrder {
        RenditionOrder(name: name, include: ImageInfo.Fact.text(facts))
    }
}
