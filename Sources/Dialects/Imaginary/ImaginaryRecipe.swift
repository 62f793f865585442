import JSON
import Recipes
import ThumbnailTypes

/// Consecutive operations, each on the result of the one before.
struct ImaginaryRecipe: RenderRecipe {
    let operations: [ImaginaryOperation]

    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        var builder = ImaginaryPlanBuilder(source)
        for operation in operations {
            var next = builder
            do throws(ImagingError) {
                try next.apply(operation)
                builder = next
            } catch {
                guard operation.mayFail else { throw error }
                builder.skip(operation)
            }
        }
        var draft = try builder.draft()
        if hasDefaultQuality {
            draft.quality = .fixed(source.rules.defaultQuality(ImaginaryOptions.standardQuality))
            draft.qualityScale = .visual
        }
        return draft
    }

    var keyText: String { "imaginary" }
}

struct ImaginaryFallbackRecipe: RenderRecipe {
    let width: Int
    let height: Int
    let format: ImageFormat?

    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        let page = source.header.page(0)
        let size = PixelSize(width: width > 0 ? width : page.size.width, height: height > 0 ? height : page.size.height)
        let written = format.flatMap { $0.isWritten ? $0 : nil } ?? page.format.outputFormat(hasAlpha: page.hasAlpha)
        var draft = RenderDraft(size: size, format: written, quality: .fixed(ImaginaryOptions.standardQuality))
        if page.hasAlpha, !written.supportsAlpha { draft.steps.append(BackgroundStep(.black)) }
        return draft
    }

    var keyText: String { "imaginary placeholder" }
}

/// A recipe for `/info`: returns facts, and renders one unused pixel.
struct ImaginaryFactsRecipe: RenderRecipe {
    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft {
        RenderDraft(size: PixelSize(width: 1, height: 1), format: .png, quality: .fixed(100))
    }

    var keyText: String { "imaginary info" }

    static let writer: ResponseWriter<Thumbnail> = ResponseWriter(for: ImaginaryFactsRecipe()) { thumbnail in
        thumbnail.sourceHeader.map {
            WrittenResponse(mediaType: "application/json", body: .text(facts(about: $0).text))
        }
    }

    /// Returns the facts under imaginary's names, with the size of the stored image.
    static func facts(about header: ImageHeader) -> JSONValue {
        .object([
            ("width", .int(header.storedSize.width)), ("height", .int(header.storedSize.height)),
            ("type", .string(type(of: header.format))), ("space", .string(space(of: header))),
            ("hasAlpha", .bool(header.hasAlpha)), ("hasProfile", .bool(header.profileByteCount > 0)),
            ("channels", .int(header.bands)), ("orientation", .int(orientation(of: header))),
        ])
    }

    private static func type(of format: ImageFormat) -> String {
        switch format {
        case .heic, .avif: "heif"
        default: format.rawValue
        }
    }

    private static func space(of header: ImageHeader) -> String {
        if header.colors.space == .cmyk { return "cmyk" }
        let isDeep = header.bitDepth > 8
        if header.bands < 3 { return isDeep ? "grey16" : "b-w" }
        return isDeep && header.format != .heic && header.format != .avif ? "rgb16" : "srgb"
    }

    /// Returns 0 if the file has no orientation; loaders of WebP always report one.
    private static func orientation(of header: ImageHeader) -> Int {
        header.orientation == .none && header.format != .webp ? 0 : header.orientation.exif
    }
}

extension ImaginaryRecipe: SizedRecipe {
    var hasDefaultQuality: Bool { operations.allSatisfy { !(1...100 ~= $0.options.quality) } }

    /// Limits each operation separately, because others may be skipped; at least one must name a side.
    func allowed(by policy: SizePolicy, choices: ClientChoices) throws(APIError) -> ImaginaryRecipe {
        var operations = operations
        for index in operations.indices { try operations[index].options.allow(by: policy, choices: choices) }
        if !policy.sizes.isEmpty, !operations.contains(where: { $0.options.box != PixelSize(width: 0, height: 0) }) {
            var options = ImaginaryOptions()
            options.width = try policy.allowed(RequestedBox(), choices: choices).width ?? 0
            operations.append(try ImaginaryOperation(.resize, options: options, format: nil))
        }
        return ImaginaryRecipe(operations: operations)
    }
}

extension ImaginaryOptions {
    fileprivate mutating func allow(by policy: SizePolicy, choices: ClientChoices) throws(APIError) {
        if 1...100 ~= quality { quality = try policy.quality(quality) }
        guard !policy.sizes.isEmpty else { return }
        let requested = RequestedBox(width: box.width > 0 ? box.width : nil, height: box.height > 0 ? box.height : nil)
        // A zoom enlarges the image, whatever its box.
        if factor > 0 {
            guard policy.rule == .up else { throw policy.rejection("w") }
            factor = 0
        }
        guard requested != RequestedBox() else { return }
        let allowed = try policy.allowed(requested, choices: choices)
        if allowed != requested {
            width = allowed.width ?? 0
            height = allowed.height ?? 0
            ratio = nil
        }
    }
}

extension ImaginaryFactsRecipe: SizedRecipe {
    var hasDefaultQuality: Bool { false }

    func allowed(by policy: SizePolicy, choices: ClientChoices) throws(APIError) -> Self { self }
}
