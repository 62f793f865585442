package import Imaging
import Text
package import ThumbnailPipeline

/// Explains targets as the service with this configuration would read them, without fetching anything.
package struct TargetExplainer: Sendable {
    private let configuration: APIConfiguration
    private let pipeline: PipelineConfiguration

    /// Explains what a service of these configurations would do.
    package init(_ configuration: APIConfiguration, _ pipeline: PipelineConfiguration) {
        self.configuration = configuration
        self.pipeline = pipeline
    }

    /// What a request target means.
    ///
    /// - Parameters:
    ///   - text: Path and query, or an absolute URL whose scheme and authority are left out.
    ///   - accept: The request's `Accept`.
    ///   - header: The source that sizes and steps are worked out for.
    package func explanation(
        of text: String, accept: String? = nil, for header: ImageHeader = Self.assumed()
    ) -> TargetExplanation {
        let target = RequestedTarget(Self.target(in: text), accept: accept)
        guard let dialect = dialect(of: target.target.string) else {
            return TargetExplanation(.refused(APIError.noSuchRoute))
        }
        var explanation = TargetExplanation(.works, dialect: dialect.name)
        do {
            let query = try dialect.query(in: target)
            explanation.source = query.request.source.string
            explanation.ignored = query.ignoredOptions
            if !query.ignoredOptions.isEmpty { explanation.verdict = .ignores }
            if query.answer.facts == nil { try explain(query, for: header, into: &explanation) }
        } catch {
            explanation.verdict = .refused(error)
        }
        if !configuration.isOpen(dialect) || !dialect.isAuthentic(target) {
            explanation.verdict = .refused(APIError.badSignature)
        }
        return explanation
    }

    /// The header of a source that is not known: of a photograph unless something else is given.
    package static func assumed(
        width: Int = 3_000, height: Int = 2_000, format: ImageFormat = .jpeg
    ) -> ImageHeader {
        ImageHeader(format: format, storedSize: PixelSize(width: width, height: height), isChromaSubsampled: true)
    }

    /// The header of a source that is described as `WIDTHxHEIGHT` or `WIDTHxHEIGHT.FORMAT`; nil for another text.
    package static func header(_ text: String) -> ImageHeader? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = ParameterGrammar.integer(String(sides[0]), in: 1...99_999),
            let height = ParameterGrammar.integer(String(sides[1]), in: 1...99_999)
        else { return nil }
        guard parts.count == 2 else { return assumed(width: width, height: height) }
        guard let format = ImageFormat(name: String(parts[1])) else { return nil }
        return assumed(width: width, height: height, format: format)
    }

    /// What ``header(_:)`` reads, as a sentence.
    package static let headerForm = "Must be a size and perhaps a format, such as 4000x3000 or 4000x3000.png."

    /// The assumed watermark: its size matters only for the steps that are shown.
    private static let watermark = ImageHeader(
        format: .png, storedSize: PixelSize(width: 400, height: 100), bands: 4, hasAlpha: true)

    private func explain(
        _ query: ThumbnailQuery, for header: ImageHeader, into explanation: inout TargetExplanation
    ) throws(APIError) {
        let request = query.request
        let plan: RenderPlan
        do {
            plan = try RenderPlan(
                for: request,
                of: PerSource(header, additional: request.additional.map { _ in Self.watermark }), by: pipeline)
        } catch let error as any ServiceError {
            throw .badParameter("", error.publicMessage)
        } catch {
            throw .unexpected("\(error)")
        }
        explanation.assumedSource = "\(header.size.width)x\(header.size.height) \(header.format.rawValue)"
        explanation.steps = plan.keyTexts
        explanation.parameters =
            ThumbnailTarget.generate(query).map(Self.parameters(inTarget:)) ?? plan.nativeParameters
    }

    /// The parameters of a target in Alula's own dialect, its source left out.
    private static func parameters(inTarget target: String) -> [(name: String, value: String)] {
        let items = (try? RawQuery(target: target).decoded()) ?? []
        return items.filter { $0.name != ThumbnailParameter.url.rawValue }
    }

    private func dialect(of target: String) -> (any Dialect)? {
        PublicRoutes.owner(of: target, at: PublicRoute(ownTarget: target), among: configuration.dialects) { $0 }
    }

    /// What a client would send: all that follows the authority of an absolute URL, without a fragment.
    private static func target(in text: String) -> String {
        let text = String(text.prefix { $0 != "#" })
        guard !text.hasPrefix("/"), let scheme = text.firstRange(of: "://") else { return text }
        let rest = text[scheme.upperBound...]
        guard let start = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return rest[start] == "/" ? String(rest[start...]) : "/" + rest[start...]
    }
}

extension TargetExplanation.Verdict {
    /// The refusal with an error.
    init(refusing error: some ServiceError) {
        self = .refused(code: error.code, reason: error.publicMessage, parameter: error.parameter)
    }

    fileprivate static func refused(_ error: APIError) -> Self { Self(refusing: error) }
}

extension RenderPlan {
    /// Alula's own parameters that come nearest to a plan of another dialect: sizes, part, turn and encoding.
    ///
    /// What else is done stands only in the steps.
    fileprivate var nativeParameters: [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        func add(_ parameter: ThumbnailParameter, _ value: String) { parameters.append((parameter.rawValue, value)) }
        if let resample = steps.first as? ResampleStep {
            if let part = resample.part {
                add(.crop, "\(part.x),\(part.y),\(part.size.width),\(part.size.height)")
            }
        }
        add(.width, String(outputSize.width))
        add(.height, String(outputSize.height))
        add(.fit, Fit.cover.rawValue)
        add(.format, format.rawValue)
        if case .fixed(let quality) = quality, format.hasQuality { add(.quality, String(quality)) }
        if case .fitting(let bytes, let highest, _) = quality {
            add(.quality, String(highest))
            add(.maximumBytes, String(bytes))
        }
        if decode.page > 0 { add(.page, String(decode.page)) }
        if isAnimated { add(.animated, "1") }
        return parameters
    }
}
