import Crypto
package import HTTPTypes
import Recipes
package import Text
package import ThumbnailTypes

package struct ImaginaryDialect: Dialect {
    package let name = "imaginary"
    private let prefix: PathPrefix
    private let configuration: ImaginaryConfiguration
    private let base: SourceBase?

    package var signatures: DialectSignatures { configuration.hasKeys ? .required : .none }
    package var uploads: DialectUploads { .signedTarget(field: "file") }
    package var readinessPaths: [String] { [prefix.path(of: "health"), prefix.path, prefix.path(of: "")] }

    package init?(_ configuration: ImaginaryConfiguration, base: SourceBase? = nil) {
        guard let prefix = configuration.prefix else { return nil }
        self.prefix = prefix
        self.base = base
        self.configuration = configuration
    }

    /// At `/`, imaginary's routes take precedence over Alula's.
    package func match(on target: String) -> DialectMatch {
        guard prefix.path == "/" else { return prefix.match(on: target) }
        return ImaginaryTarget.routeName(target, at: prefix) == nil ? .none : .exact
    }

    package func isAuthentic(_ target: RequestedTarget) -> Bool {
        guard let key = configuration.signatureKey else { return true }
        let text = target.target.string
        guard let parameters = FormQuery.parameters(of: text),
            let received = parameters.first(where: { $0.name.isExactly("sign") }).flatMap({ Base64URL.decode($0.value) }
            )
        else { return false }
        // The routes contain no escaped characters, so the path needs no decoding.
        let path = text.prefix(before: UInt8(ascii: "?"))
        let message = path + FormQuery.text(sorting: parameters.filter { !$0.name.isExactly("sign") })
        return HMAC.isEqual(HMAC.authenticationCode(for: message.utf8, key: key), received)
    }

    package func keyID(of target: RequestedTarget) -> String? {
        guard configuration.hasKeys, isAuthentic(target), (try? checkKey(target)) != nil else { return nil }
        return String((configuration.keys.isEmpty ? 0 : key(of: target) ?? 0) + 1)
    }

    package func checkProbe(_ target: RequestedTarget) throws(APIError) { try checkKey(target) }

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        try checkKey(target)
        let parsed = try ImaginaryTarget(target.target.string, at: prefix)
        guard configuration.takesURLs || files != nil else { throw .methodNotAllowed }
        guard let source = try source(in: parsed) else {
            // As imaginary does, report an error of the operation before the missing URL.
            _ = try parsed.operations(accept: nil)
            throw .missingParameter("url")
        }
        return try request(parsed, source: try ParameterGrammar.source(source), accept: target.accept?.string)
    }

    package func uploadRequest(in target: RequestedTarget) throws(APIError) -> Request {
        try checkKey(target)
        let parsed = try ImaginaryTarget(target.target.string, at: prefix)
        return try request(parsed, source: NativeDialect.uploadedSource, accept: target.accept?.string)
    }

    /// Returns the fallback image with the sides and the format of the target, if these are valid.
    package func fallbackImage(for target: RequestedTarget) -> FallbackImage? {
        guard let placeholder = configuration.placeholder,
            let parsed = try? ImaginaryTarget(target.target.string, at: prefix)
        else { return nil }
        return parsed.fallbackImage(placeholder)
    }

    package func response(to problem: Problem) -> HTTPResponse {
        problem.response(under: Self.status(of: problem.error))
    }

    private static func status(of error: any ServiceError) -> HTTPResponse.Status? {
        switch error.response.code {
        case .notAnImage: .notAcceptable
        case .cropOutside, .cannotDecode, .sourceNotAllowed, .originUnreachable, .originTLSError, .originProtocolError,
            .tooManyRedirects, .lengthRequired:
            .badRequest
        case .originError:
            // Pass on errors of the origin only.
            error.upstreamStatus.flatMap { 400...511 ~= $0 ? HTTPResponse.Status(code: $0) : nil }
                ?? .serviceUnavailable
        default: nil
        }
    }

    private func checkKey(_ target: RequestedTarget) throws(APIError) {
        guard !configuration.keys.isEmpty, key(of: target) == nil else { return }
        throw .badKey
    }

    /// Returns the index of the key in the target or in the field `API-Key`; compares all keys in constant time.
    private func key(of target: RequestedTarget) -> Int? {
        let field = target.apiKey?.string ?? ""
        let received =
            field.isEmpty
            ? FormQuery.parameters(of: target.target.string)?.first { $0.name.isExactly("key") }?.value ?? "" : field
        return configuration.keys.indices.filter { HMAC.isEqual(Array(received.utf8), configuration.keys[$0]) }.first
    }

    private func source(in target: ImaginaryTarget) throws(APIError) -> String? {
        if let url = target.value("url"), !url.isEmpty, configuration.takesURLs {
            guard let base, url.hasPrefix("/"), !url.hasPrefix("//") else { return url }
            return base.source(path: url)
        }
        guard let file = target.value("file"), !file.isEmpty else { return nil }
        guard let files else {
            throw .unsupportedOption("file", "Files of the machine are not served; url names an image.")
        }
        // The source is percent-decoded once more.
        return files.source(path: file)
    }

    private var files: SourceBase? { configuration.folder ?? base }

    private func request(_ target: ImaginaryTarget, source: String, accept: String?) throws(APIError) -> Request {
        guard !configuration.disabledRoutes.contains(ExactText(target.name)) else { throw .noSuchRoute }
        let operations = try target.operations(accept: accept)
        var request: Request
        if target.route == .info {
            request = Request(source: ExactText(source), recipe: ImaginaryFactsRecipe(), isNegotiated: false)
            request.form.writer = ImaginaryFactsRecipe.writer
        } else {
            request = Request(
                source: ExactText(source), additional: operations.list.compactMap(\.mark),
                recipe: ImaginaryRecipe(operations: operations.list), isNegotiated: operations.isNegotiated)
            if operations.list.last(where: { $0.format != nil })?.format == .tiff {
                throw .unsupportedOption("type", "Alula does not write TIFF.")
            }
        }
        request.form.cacheControl = configuration.maximumAge.map { seconds in
            seconds == 0
                ? "private, no-cache, no-store, must-revalidate"
                : "public, s-maxage=\(seconds), max-age=\(seconds), no-transform"
        }
        request.form.includesSize = true
        request.ignoredOptions = Set(operations.ignored.map { ExactText($0) }).sorted().map(\.string)
        return request
    }
}

package struct ImaginaryPlaceholder: Sendable {
    package var source: ExactText?
    /// The status of the fallback image; nil for the error's status.
    package var status: Int?

    package init() {}
}

package struct ImaginaryConfiguration: KeyedConfiguration {
    package var prefix: PathPrefix?
    package var keys: [[UInt8]] = []
    package var signatureKey: [UInt8]?
    package var takesURLs = true
    package var disabledRoutes: Set<ExactText> = []
    package var folder: SourceBase?
    package var maximumAge: Int?
    package var placeholder: ImaginaryPlaceholder?

    package init() {}

    package var hasKeys: Bool { !keys.isEmpty || signatureKey != nil }
}
