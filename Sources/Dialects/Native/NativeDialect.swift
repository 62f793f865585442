import Text
package import ThumbnailTypes

package struct NativeDialect: RenditionDialect, NativelySignedDialect {
    package let name = "thumbnail"
    package let keys: SigningKeys
    private let vocabulary: Vocabulary
    package static let unsignedName = "native"
    package static let uploadedSource = "upload:"

    package var uploads: DialectUploads { .signedBody }

    /// Creates the dialect; without keys, it accepts unsigned targets.
    package init(signingKeys: [[UInt8]] = [], vocabulary: Vocabulary = Vocabulary()) {
        self.init(SigningKeys(signingKeys), vocabulary: vocabulary)
    }

    package init(_ keys: SigningKeys, vocabulary: Vocabulary) {
        self.keys = keys
        self.vocabulary = vocabulary
    }

    package func match(on target: String) -> DialectMatch {
        target.prefix(before: UInt8(ascii: "?")) == ThumbnailTarget.path ? .exact : .none
    }

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        try ThumbnailTarget.parse(target.with(keys.unnamed(target.target.string)), vocabulary: vocabulary)
    }

    /// Parses a target for an uploaded image: parameters of sources are rejected, and `expires` applies.
    package func uploadRequest(in target: RequestedTarget) throws(APIError) -> Request {
        let text = keys.unnamed(target.target.string)
        return try rendition(
            String(text.suffix(after: UInt8(ascii: "?")) ?? ""), of: Self.uploadedSource,
            accept: target.accept?.string, hints: target.hints, mayExpire: true)
    }

    /// Returns a target of `/thumbnail` from a rendition: a query without the source and parameters of one request.
    ///
    /// Normalizes the query unless presets would change its meaning; they apply when the target is parsed.
    package func target(source: String, rendition: String) throws(APIError) -> String {
        do throws(APIError) {
            try Self.reject(ThumbnailParameter.namesOutsideRenditions, in: rendition)
        } catch {
            throw .badBody("", "\(error.parameter.map { "\($0): " } ?? "")\(error.publicMessage)")
        }
        let target = Self.target(rendition, of: source)
        let request = try ThumbnailTarget.parse(RequestedTarget(target), vocabulary: vocabulary)
        return (vocabulary.keepsWrittenTargets ? ThumbnailTarget.generate(request) : nil) ?? target
    }

    package func source(_ text: String) -> String { vocabulary.source(text) }

    package func rendition(
        _ rendition: String, of source: String, accept: String?, hints: ClientHints = ClientHints(),
        mayExpire: Bool = false
    ) throws(APIError) -> Request {
        let rejected = ThumbnailParameter.namesOutsideRenditions
        try Self.reject(mayExpire ? rejected.filter { $0 != "expires" } : rejected, in: rendition)
        return try ThumbnailTarget.parse(
            RequestedTarget(Self.target(rendition, of: source), accept: accept, hints: hints), vocabulary: vocabulary)
    }

    private static func reject(_ names: [String], in rendition: String) throws(APIError) {
        for name in try RawQuery(target: "?" + rendition).decoded().map(\.name) where names.contains(name) {
            throw .badParameter(name, "Not allowed in a rendition.")
        }
    }

    private static func target(_ rendition: String, of source: String) -> String {
        "\(ThumbnailTarget.path)?url=\(URLEscape.encode(source))\(rendition.isEmpty ? "" : "&" + rendition)"
    }
}
