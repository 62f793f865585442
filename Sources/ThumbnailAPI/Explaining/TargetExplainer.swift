package import Dialects
package import Downloading
import HTTPTypes
package import Recipes
import Text
package import ThumbnailPipeline
import ThumbnailTypes

package struct TargetExplainer: Sendable {
    private let configuration: APIConfiguration
    private let pipeline: PipelineConfiguration
    private let rules: DownloadRules?
    private let tenants: Tenants?

    package typealias Tenants = @Sendable (_ target: RequestedTarget, _ host: String?) -> TargetExplainer

    /// - Parameters:
    ///   - rules: The policy for sources; nil to skip its checks.
    ///   - tenants: Returns the explainer of a target's tenant; nil in a service without tenants.
    package init(
        _ configuration: APIConfiguration, pipeline: PipelineConfiguration, rules: DownloadRules? = nil,
        tenants: Tenants? = nil
    ) {
        self.tenants = tenants
        self.configuration = configuration
        self.pipeline = pipeline
        self.rules = rules
    }

    /// Explains a target without fetching its source.
    ///
    /// - Parameters:
    ///   - text: Path and query, or an absolute URL, whose host may select the tenant.
    ///   - now: The time in Unix seconds; nil to skip the expiry check.
    package func explanation(
        of text: String, accept: String? = nil, for header: ImageHeader = Self.assumed(), now: Int? = nil
    ) -> TargetExplanation {
        let (host, path) = Self.parts(of: text)
        let target = RequestedTarget(path, accept: accept, hints: ClientHints(HTTPFields()))
        if let tenants { return tenants(target, host).explanation(of: path, accept: accept, for: header, now: now) }
        guard let dialect = dialect(of: target.target.string) else {
            return TargetExplanation(.rejected(APIError.noSuchRoute))
        }
        var explanation = TargetExplanation(.works, dialect: dialect.name)
        var rejection: (any ServiceError)?
        do {
            let request = try configuration.clientPolicy.request(in: target, of: dialect)
            rejection = self.rejection(of: request, at: now)
            explanation.source = request.source.string
            explanation.ignored = request.ignoredOptions
            explanation.response = Self.response(to: request) + forwarding(request)
            if !request.ignoredOptions.isEmpty { explanation.verdict = .ignores }
            if request.form.facts == nil { try explain(request, for: header, into: &explanation) }
        } catch {
            explanation.verdict = .rejected(error)
        }
        if let rejection { explanation.verdict = TargetExplanation.Verdict(rejecting: rejection) }
        if !configuration.isOpen(dialect) || !dialect.isAuthentic(target) {
            explanation.verdict = .rejected(APIError.badSignature)
        }
        return explanation
    }

    private func rejection(of request: Request, at now: Int?) -> (any ServiceError)? {
        if let now, let expires = request.expires, expires <= now { return APIError.expired }
        guard let rules else { return nil }
        let additional = request.additional.filter { $0.file == nil }.map(\.source)
        for source in [request.source] + additional {
            do {
                let identity = try rules.identity(of: source)
                if let rule = identity.rules.violation(toFetching: identity.url) {
                    return DownloadError.sourceNotAllowed(rule)
                }
            } catch {
                return error
            }
        }
        return nil
    }

    private func forwarding(_ request: Request) -> [String] {
        let sources = [request.source] + request.additional.filter { $0.file == nil }.map(\.source)
        let names = sources.flatMap { source in (try? rules?.identity(of: source))?.forwardedNames ?? [] }
        guard !names.isEmpty else { return [] }
        let list = Set(names.map(\.rawName)).sorted().joined(separator: ", ")
        return ["private: its origin receives \(list) of the client"]
    }

    private static func response(to request: Request) -> [String] {
        let form = request.form
        var summary: [String] = []
        if form.facts != nil {
            let way = form.factsWriter == nil ? " as JSON" : ", as the dialect writes them"
            summary.append("facts about the source\(way)")
        }
        if form.writer != nil { summary.append("a text that the dialect writes, not the image itself") }
        if let name = form.fileName { summary.append("saved as \(name.string)") }
        if form.isAttachment { summary.append("browsers save it and do not show it") }
        if let seconds = form.maximumAge {
            summary.append("clients may use it for \(seconds) s if the source is not private")
        }
        if let expires = request.expires {
            summary.append("the URL expires on \(HTTPDate(secondsSince1970: expires).imfFixdate)")
        }
        switch form.fallback {
        case .configured(let url): summary.append("failures send the client to \(url.string)")
        case .named(let url, _): summary.append("failures send the client to the image at \(url.string)")
        case nil: break
        }
        if !request.hintFields.isEmpty {
            summary.append("chosen by \(request.hintFields.names.joined(separator: ", "))")
        }
        if !request.tags.isEmpty { summary.append("purged by \(request.tags.map(\.string).joined(separator: ", "))") }
        if request.placeholder != nil { summary.append("a placeholder of one color if the source fails") }
        return summary
    }

    package static func assumed(width: Int = 3_000, height: Int = 2_000, format: ImageFormat = .jpeg) -> ImageHeader {
        ImageHeader(format: format, storedSize: PixelSize(width: width, height: height), isChromaSubsampled: true)
    }

    /// Parses `WIDTHxHEIGHT` or `WIDTHxHEIGHT.FORMAT`.
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

    package static let headerForm = "Must be a size and perhaps a format, such as 4000x3000 or 4000x3000.png."

    private static let watermark = ImageHeader(
        format: .png, storedSize: PixelSize(width: 400, height: 100), bands: 4, hasAlpha: true)

    private func explain(
        _ request: Request, for header: ImageHeader, into explanation: inout TargetExplanation
    ) throws(APIError) {
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
        explanation.steps = plan.summary
        let native = NativeParameters(of: request, plan: plan)
        explanation.parameters = native.all
        explanation.unexpressedSteps = native.unexpressedSteps
    }

    private func dialect(of target: String) -> (any Dialect)? {
        Route(nativeTarget: target).owner(of: target, among: configuration.dialects) { $0 }
    }

    /// Splits an absolute URL into its authority and the rest without a fragment.
    private static func parts(of text: String) -> (host: String?, target: String) {
        let text = String(text.prefix { $0 != "#" })
        guard !text.hasPrefix("/"), let scheme = text.firstRange(of: "://") else { return (nil, text) }
        let rest = text[scheme.upperBound...]
        guard let start = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return (String(rest), "/") }
        return (String(rest[..<start]), rest[start] == "/" ? String(rest[start...]) : "/" + rest[start...])
    }
}

extension TargetExplanation.Verdict {
    init(rejecting error: some ServiceError) {
        self = .rejected(code: error.code, reason: error.operatorMessage, parameter: error.parameter)
    }

    fileprivate static func rejected(_ error: APIError) -> Self { Self(rejecting: error) }
}
