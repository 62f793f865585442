import Crypto
import Imaging
import Text
package import ThumbnailPipeline

/// The URLs of thumbor 7 and imagor 1: `/SIGNATURE/OPTIONS/IMAGE`.
///
/// Where the two differ, thumbor's meaning counts; what only imagor has is read, too. docs/dialects.md lists the differences.
package struct ThumborDialect: Dialect {
    package let name = "thumbor"
    private let place: DialectPlace
    private let configuration: ThumborConfiguration

    /// A dialect that also serves unsigned targets has no keys in this sense: they would open what `signingKeys` closes.
    package var hasSigningKeys: Bool { configuration.key != nil && !configuration.isUnsafeServed }
    package var probePath: String? { place.path(of: "healthcheck") }

    /// The dialect with these settings; nil without a place.
    package init?(_ configuration: ThumborConfiguration) {
        guard let place = configuration.place else { return nil }
        self.place = place
        self.configuration = configuration
    }

    package func claim(on target: String) -> DialectClaim { place.claim(on: target) }

    package func isAuthentic(_ target: RequestedTarget) -> Bool {
        guard let path = ThumborPath(target.target.string, at: place) else { return false }
        if path.isUnsafe { return configuration.isUnsafeServed }
        guard let key = configuration.key else { return false }
        return ThumborSigner(key: key, hash: configuration.signer, length: configuration.signatureLength)
            .verifies(path)
    }

    package func query(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery {
        guard let path = ThumborPath(target.target.string, at: place) else {
            throw .badURL("The address of an image is missing.")
        }
        let parsed = try ThumborTarget(path.rest)
        var reader = ThumborFilterReader(configuration, isMeta: parsed.isMeta)
        try reader.read(parsed.filters)
        var options = reader.options
        options.geometry = parsed.geometry.with(reader.options.geometry)
        options.isDebug = parsed.isDebug
        var accepted: [ImageFormat] = []
        if options.format == nil, !options.isRaw, !configuration.automaticFormats.isEmpty {
            let qualities = AcceptedFormats.qualities(target.accept?.string)
            accepted = configuration.automaticFormats.filter { qualities[$0] != nil }
        }
        let recipe = ThumborRecipe(
            options: options, accepted: accepted, quality: configuration.quality, text: parsed.optionText)
        let isNegotiated = options.format == nil && !options.isRaw && !configuration.automaticFormats.isEmpty
        var query = ThumbnailQuery(
            request: ThumbnailRequest(
                source: try ThumborAddress.source(parsed.address, base: configuration.baseURL),
                additional: reader.marks.map { AdditionalSource(.watermark, source: $0) }, recipe: recipe,
                isNegotiated: isNegotiated),
            expires: reader.expires)
        query.answer = reader.answer
        query.answer.isWritten = parsed.isMeta
        query.ignoredOptions = reader.ignored
        return query
    }

    package func writtenAnswer(about thumbnail: Thumbnail, to query: ThumbnailQuery) -> WrittenAnswer? {
        guard let header = thumbnail.sourceHeader, let recipe = query.request.recipe.recipe as? ThumborRecipe
        else { return nil }
        return WrittenAnswer(
            mediaType: "application/json",
            text: ThumborMetadata(of: header, recipe: recipe, source: query.request.source).text)
    }
}

/// The path of a target behind the dialect's place: a signature or `unsafe`, and the rest, as they were sent.
struct ThumborPath {
    /// The first segment.
    let signature: ArraySlice<UInt8>
    /// What follows the slash after it, without a query.
    let rest: ArraySlice<UInt8>

    /// Nil if the target lies elsewhere, or has one segment only.
    init?(_ target: String, at place: DialectPlace) {
        guard let remainder = place.remainder(of: target) else { return nil }
        let path = Array(remainder.utf8.prefix { $0 != UInt8(ascii: "?") })
        let start = path[...].drop { $0 == UInt8(ascii: "/") }
        guard let slash = start.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        signature = start[..<slash]
        rest = start[(slash + 1)...]
    }

    /// Whether the target is not signed and says so.
    var isUnsafe: Bool { signature.elementsEqual("unsafe".utf8) }
}

/// Signatures of thumbor and imagor: base64url, with padding, of a code for the path after the signature.
struct ThumborSigner {
    let key: [UInt8]
    let hash: HMAC.Hash
    /// The number of characters that remain; nil for all.
    let length: Int?

    /// The signature of a path without its leading slash.
    func signature(of path: some Sequence<UInt8>) -> [UInt8] {
        let code = HMAC.authenticationCode(for: path, key: key, hash: hash)
        var text = Array(Base64URL.encode(code).utf8)
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return length.map { Array(text.prefix($0)) } ?? text
    }

    /// Whether the path is signed with the key, as it was sent or percent-decoded.
    func verifies(_ path: ThumborPath) -> Bool {
        guard let sent = PercentEncoding.decode(path.signature) else { return false }
        let signature = Array(sent.utf8)
        if HMAC.isEqual(signature, self.signature(of: path.rest)) { return true }
        guard path.rest.contains(UInt8(ascii: "%")), let decoded = PercentEncoding.decode(path.rest) else {
            return false
        }
        return HMAC.isEqual(signature, self.signature(of: decoded.utf8))
    }
}
