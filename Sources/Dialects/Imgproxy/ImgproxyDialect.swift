import Recipes
import Text
package import ThumbnailTypes

/// imgproxy 4's free edition: `/SIGNATURE/OPTIONS/plain/SOURCE@FORMAT`.
package struct ImgproxyDialect: Dialect {
    package let name = "imgproxy"
    private let configuration: ImgproxyConfiguration
    private let prefix: PathPrefix
    private let presets: ImgproxyPresets

    package var signatures: DialectSignatures { configuration.hasKeys ? .required : .none }
    package var readinessPaths: [String] { [prefix.path(of: "health")] }

    package init?(_ configuration: ImgproxyConfiguration, vocabulary: Vocabulary = Vocabulary()) {
        guard let prefix = configuration.prefix else { return nil }
        var configuration = configuration
        configuration.findsFaces = vocabulary.findsFaces
        self.configuration = configuration
        self.prefix = prefix
        presets = ImgproxyPresets(configuration.allPresets(vocabulary), separator: configuration.argumentsSeparator)
    }

    package func match(on target: String) -> DialectMatch { prefix.match(on: target) }

    package func isAuthentic(_ target: RequestedTarget) -> Bool {
        guard let path = path(of: target) else { return true }
        return configuration.isAuthentic(path.signature, of: path.signedPath)
    }

    package func keyID(of target: RequestedTarget) -> String? {
        path(of: target).flatMap { configuration.signer(of: $0.signedPath, by: $0.signature) }.map { String($0 + 1) }
    }

    package func loggedTarget(_ target: RequestedTarget) -> String {
        guard let path = path(of: target) else { return prefix.path }
        let segments = path.signedPath.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let separator = Array(configuration.argumentsSeparator.utf8)
        let options = segments.prefix { ImgproxyOption($0, separator: separator) != nil }
        let shown = options.isEmpty && configuration.allowsOnlyPresets ? segments.prefix(1) : options
        return prefix.loggedPath(shown.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/"))
    }

    package func loggedSource(_ target: RequestedTarget) -> String? { try? request(in: target).source.string }

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        guard let path = path(of: target) else {
            throw .badURL("A path has a signature, options and a source: /_/w:300/plain/https://example.com/a.jpg.")
        }
        var reader = ImgproxyOptionReader(configuration, presets: presets)
        if presets[ImgproxyPresets.defaultName] != nil { try reader.apply(presets: [ImgproxyPresets.defaultName]) }
        let segments = path.signedPath.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let rest = try readOptions(segments[...], into: &reader)
        let source = try ImgproxySource(rest, configuration: configuration)
        if let format = source.format, !reader.image.isRaw { try reader.apply(format: format) }
        return try request(source.url, reader: reader, accept: target.accept?.string)
    }

    private func path(of target: RequestedTarget) -> ImgproxyPath? {
        prefix.remainder(of: target.target.string).flatMap { ImgproxyPath($0) }
    }

    private func readOptions(
        _ segments: ArraySlice<ArraySlice<UInt8>>, into reader: inout ImgproxyOptionReader
    ) throws(APIError) -> ArraySlice<ArraySlice<UInt8>> {
        let separator = Array(configuration.argumentsSeparator.utf8)
        guard let first = segments.first else { return segments }
        if configuration.allowsOnlyPresets {
            let names = ImgproxyOption(first, separator: separator).map { [Array($0.name.utf8)[...]] + $0.arguments }
            try reader.apply(presets: (names ?? [first]).map { ExactText(String(decoding: $0, as: UTF8.self)) })
            return segments.dropFirst()
        }
        if ImgproxyOptions.ResizingType(rawValue: String(decoding: first, as: UTF8.self)) != nil {
            throw .badURL("imgproxy no longer supports URLs of version 1.")
        }
        var rest = segments
        while let segment = rest.first, let option = ImgproxyOption(segment, separator: separator) {
            guard configuration.allowedOptions.isEmpty || configuration.allowedOptions.contains(ExactText(option.name))
            else {
                throw .badParameter(option.quotedName, "Requires ALLOWED_PROCESSING_OPTIONS.")
            }
            try reader.apply(option)
            rest = rest.dropFirst()
        }
        return rest
    }

    private func request(
        _ source: ExactText, reader: ImgproxyOptionReader, accept: String?
    ) throws(APIError) -> Request {
        let image = reader.image
        if let format = image.format, format.written == nil, format != .svg, !image.isRaw {
            throw .unsupportedOption("format", "Results in the format \(format.rawValue) are not supported.")
        }
        let negotiation = configuration.defaults.negotiation
        let isNegotiated = !image.isRaw && (image.format == nil ? negotiation.isOn : negotiation.canEnforce)
        var request = Request(
            source: source,
            recipe: ImgproxyRecipe(
                options: image, defaults: configuration.defaults,
                accepted: isNegotiated ? negotiation.accepted(by: accept) : ImgproxyNegotiation()),
            isNegotiated: isNegotiated, expires: reader.expires)
        let watermark = image.watermark.opacity > 0 && !image.isRaw ? configuration.watermark : nil
        if let watermark { request.additional = [AdditionalSource(.watermark, source: watermark)] }
        request.limits.maximumSourceBytes = reader.maximumSourceBytes
        request.form.fileName = reader.fileName.isEmpty ? nil : ExactText(reader.fileName)
        request.form.isAttachment = reader.isAttachment
        request.form.maximumAge = configuration.maximumAge
        request.form.fallback = configuration.fallback.map { .configured($0) }
        request.choices = reader.choices
        request.ignoredOptions = reader.ignored
        return request
    }
}
