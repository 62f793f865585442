import HTTPTypes
import Recipes
import Text
import ThumbnailTypes

struct ImaginaryTarget {
    enum Route: Hashable {
        case operation(ImaginaryOperation.Name)
        case pipeline, info

        init?(_ name: String) {
            switch name {
            case "pipeline": self = .pipeline
            case "info": self = .info
            default:
                guard let name = ImaginaryOperation.Name(rawValue: name) else { return nil }
                self = .operation(name)
            }
        }
    }

    let route: Route
    let name: String
    let parameters: [(name: String, value: String)]

    static func routeName(_ target: String, at prefix: PathPrefix) -> Substring? {
        guard let rest = prefix.remainder(of: target)?.prefix(before: UInt8(ascii: "?")), rest.hasPrefix("/") else {
            return nil
        }
        let name = rest.dropFirst()
        return Route(String(name)) == nil ? nil : name
    }

    init(_ target: String, at prefix: PathPrefix) throws(APIError) {
        guard let name = Self.routeName(target, at: prefix), let route = Route(String(name)) else { throw .noSuchRoute }
        self.route = route
        self.name = String(name)
        guard let parameters = FormQuery.parameters(of: target) else {
            throw .badParameter("", "The query is not percent-encoded UTF-8.")
        }
        self.parameters = parameters
    }

    func value(_ name: String) -> String? { parameters.first { $0.name.isExactly(name) }?.value }

    struct Operations {
        var list: [ImaginaryOperation] = []
        var isNegotiated = false
        var ignored: [String] = []
    }

    func operations(accept: String?) throws(APIError) -> Operations {
        var options = ImaginaryOptions()
        var steps: [ImaginaryPipelineText.Step] = []
        var seen: Set<ExactText> = []
        for (name, value) in parameters where seen.insert(ExactText(name)).inserted {
            if name.isExactly("operations") { steps = try ImaginaryPipelineText.steps(in: value) }
            try options.set(name, to: .text(ExactText(value)))
        }
        if ImaginaryType.isUnknown(options.type) { throw ImaginaryType.unknown }
        var operations = Operations(ignored: options.ignored)
        switch route {
        case .info: break
        case .pipeline:
            operations.list = try ImaginaryPipelineText.operations(steps)
            operations.ignored = operations.list.flatMap(\.options.ignored)
        case .operation(.autorotate):
            operations.list = [try ImaginaryOperation(.autorotate, options: options, format: nil)]
        case .operation(let name):
            operations.isNegotiated = options.type == "auto"
            let format = try operations.isNegotiated ? Self.negotiated(accept) : ImaginaryType.format(options.type)
            operations.list = [try ImaginaryOperation(name, options: options, format: format)]
        }
        return operations
    }

    func fallbackImage(_ placeholder: ImaginaryPlaceholder) -> FallbackImage? {
        var options = ImaginaryOptions()
        for name in ["width", "height", "type"] { try? options.set(name, to: .text(ExactText(value(name) ?? ""))) }
        let format = (try? ImaginaryType.format(options.type)) ?? nil
        let status = placeholder.status.map { HTTPResponse.Status(code: $0) }
        guard let source = placeholder.source else {
            let side = Self.placeholderSide
            let size = PixelSize(
                width: options.width > 0 ? options.width : side, height: options.height > 0 ? options.height : side)
            let written = format == .png || format == .webp ? format : .jpeg
            return FallbackImage(
                .color(Placeholder(Self.placeholderColor, size: size, format: .fixed(written ?? .jpeg))), status: status
            )
        }
        let recipe = ImaginaryFallbackRecipe(width: options.width, height: options.height, format: format)
        return FallbackImage(.source(Request(source: source, recipe: recipe, isNegotiated: false)), status: status)
    }

    private static let placeholderSide = 400
    private static let placeholderColor = Color(red: 204, green: 204, blue: 204)

    private static func negotiated(_ accept: String?) -> ImageFormat? {
        let named = HTTPSyntax.list(accept ?? "").compactMap { MediaType($0) }
            .compactMap { ImageFormat(mediaType: $0.description) }
        return named.first { [.webp, .png, .jpeg].contains($0) }
    }
}
