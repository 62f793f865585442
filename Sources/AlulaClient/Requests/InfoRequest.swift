public import Foundation

/// A source and the facts to request about it.
public struct InfoRequest: Hashable, Sendable {
    /// The columns and rows of a BlurHash, each 1…9.
    public struct BlurHashComponents: Hashable, Sendable {
        /// The number of components across and down.
        public var columns, rows: Int

        /// Creates the components of a BlurHash.
        public init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    /// An absolute URL, or `NAME:PATH` of a named origin.
    public var source: String
    /// Facts that are not in the header of the file.
    public var facts: Set<ImageInfo.Fact>
    /// The components of the BlurHash, with ``ImageInfo/Fact/blurHash``; nil means 4×3.
    public var components: BlurHashComponents?
    /// The time after which the service rejects the URL.
    public var expires: Date?

    /// Creates a request for facts about a source.
    public init(
        _ source: String, including facts: Set<ImageInfo.Fact> = [], components: BlurHashComponents? = nil,
        expires: Date? = nil
    ) {
        self.source = source
        self.facts = facts
        self.components = components
        self.expires = expires
    }

    /// Creates a request for facts about the image at a URL.
    public init(
        _ source: URL, including facts: Set<ImageInfo.Fact> = [], components: BlurHashComponents? = nil,
        expires: Date? = nil
    ) {
        self.init(source.absoluteString, including: facts, components: components, expires: expires)
    }

    /// The parameters that have a value, without the signature.
    public var parameters: [Rendition.Parameter] {
        var parameters = [Rendition.Parameter("url", source)]
        if !facts.isEmpty { parameters.append(Rendition.Parameter("include", ImageInfo.Fact.text(facts))) }
        if let components {
            parameters.append(Rendition.Parameter("components", "\(components.columns)x\(components.rows)"))
        }
        return parameters + ThumbnailRequest.parameters(expires: expires)
    }
}
