package import Crypto
package import Recipes
package import Text
package import ThumbnailTypes

/// thumbor 7 and imagor 1: `/SIGNATURE/OPTIONS/IMAGE`.
///
/// Where they differ, thumbor's meaning applies. Features that only imagor has are supported, too; docs/dialects.md
/// lists the differences.
package struct ThumborDialect: Dialect {
    package let name = "thumbor"
    private let prefix: PathPrefix
    private let configuration: ThumborConfiguration

    package var signatures: DialectSignatures {
        if configuration.keys.isEmpty { return .none }
        return configuration.isUnsafeServed ? .optional : .required
    }
    package var readinessPaths: [String] { [prefix.path(of: "healthcheck")] }

    package init?(_ configuration: ThumborConfiguration) {
        guard let prefix = configuration.prefix else { return nil }
        self.prefix = prefix
        self.configuration = configuration
    }

    package func match(on target: String) -> DialectMatch { prefix.match(on: target) }

    package func isAuthentic(_ target: RequestedTarget) -> Bool {
        guard let path = ThumborPath(target.target.string, at: prefix) else { return false }
        return path.isUnsafe ? configuration.isUnsafeServed : verifiedText(of: path) != nil
    }

    package func isSigned(_ target: RequestedTarget) -> Bool {
        !configuration.keys.isEmpty && ThumborPath(target.target.string, at: prefix).map { !$0.isUnsafe } ?? false
    }

    package func keyID(of target: RequestedTarget) -> String? {
        guard let path = ThumborPath(target.target.string, at: prefix), !path.isUnsafe else { return nil }
        return signer(of: path).map { String($0.index + 1) }
    }

    package func loggedTarget(_ target: RequestedTarget) -> String {
        guard let path = ThumborPath(target.target.string, at: prefix),
            let parsed = try? ThumborTarget(path.isUnsafe ? path.unsignedText : verifiedText(of: path) ?? path.sent)
        else { return prefix.path }
        let text = parsed.optionText
        let options = text[..<(text.firstRange(of: "filters:")?.lowerBound ?? text.endIndex)]
        let filters = parsed.filters.map(\.logged).joined(separator: ":")
        return prefix.loggedPath(filters.isEmpty ? String(options) : "\(options)filters:\(filters)")
    }

    package func loggedSource(_ target: RequestedTarget) -> String? { try? request(in: target).source.string }

    /// Parses the text as sent if its signature is invalid, for explanations.
    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        guard let path = ThumborPath(target.target.string, at: prefix) else {
            throw .badURL("The image URL is missing.")
        }
        let parsed = try ThumborTarget(path.isUnsafe ? path.unsignedText : verifiedText(of: path) ?? path.sent)
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
        guard let source = parsed.decodedSource else {
            throw .badURL("The image URL is not percent-encoded UTF-8.")
        }
        let isNegotiated = options.format == nil && !options.isRaw && !configuration.automaticFormats.isEmpty
        var request = Request(
            source: try ThumborSource.source(source, base: configuration.baseURL),
            additional: reader.marks.map { AdditionalSource(.watermark, source: $0) }, recipe: recipe,
            isNegotiated: isNegotiated, expires: reader.expires)
        request.form = reader.form
        request.form.maximumAge = reader.form.maximumAge ?? configuration.maximumAge
        request.form.staleAge = configuration.staleAge
        if parsed.isMeta {
            request.form.writer = ResponseWriter(for: recipe) { [source = request.source] thumbnail in
                guard let header = thumbnail.sourceHeader else { return nil }
                let metadata = ThumborMetadata(of: header, recipe: recipe, source: source)
                return WrittenResponse(mediaType: "application/json", body: .text(metadata.text))
            }
        }
        request.ignoredOptions = reader.ignored
        return request
    }

    private func verifiedText(of path: ThumborPath) -> ThumborText? { signer(of: path)?.text }

    /// Returns the key that signed the path; tries all keys, even after a match.
    private func signer(of path: ThumborPath) -> (index: Int, text: ThumborText)? {
        configuration.keys.indices.compactMap { index in
            ThumborSigner(
                key: configuration.keys[index], hash: configuration.signer, length: configuration.signatureLength
            ).verifiedText(of: path).map { (index, $0) }
        }.first
    }
}

package struct ThumborConfiguration: KeyedConfiguration {
    package var prefix: PathPrefix?
    package var keys: [[UInt8]] = []
    package var signer = HMAC.Hash.sha1
    package var signatureLength: Int?
    /// Whether to serve targets that begin with `unsafe/`; nil serves them only if there is no key.
    package var servesUnsafe: Bool?
    package var baseURL: SourceBase = "http://"
    /// The formats, best first, that `Accept` may select if the target names none.
    package var automaticFormats: [ImageFormat] = []
    package var replacesPNG = false
    package var stripsProfile = false
    /// The lifetime for clients in seconds; nil uses the source's lifetime.
    package var maximumAge: Int?
    /// Seconds for which shared caches may serve a stale response while revalidating it; nil omits the directive.
    package var staleAge: Int?
    /// The number of filters to apply, from the first; nil applies all.
    package var maximumFilters: Int?
    package var disabledFilters: Set<ExactText> = []
    package var quality = 80

    package init() {}

    var isUnsafeServed: Bool { servesUnsafe ?? keys.isEmpty }
}
