import Crypto
import JSON
import Recipes
import ThumbnailTypes

extension WsrvRecipe {
    func writtenResponse(about thumbnail: Thumbnail) -> WrittenResponse? {
        guard options.output == .facts else {
            return options.isInBase64 ? WrittenResponse(mediaType: "text/plain", body: .thumbnail) : nil
        }
        let facts = facts(about: thumbnail).text
        guard options.isInBase64 else { return WrittenResponse(mediaType: "application/json", body: .text(facts)) }
        let digits = Base64.encode(Array(facts.utf8))
        return WrittenResponse(mediaType: "text/plain", body: .text("data:application/json;base64,\(digits)"))
    }

    /// Returns facts after all steps, with weserv's names and order, omitting unknown ones.
    private func facts(about thumbnail: Thumbnail) -> JSONValue {
        let size = thumbnail.image.size
        let header = thumbnail.sourceHeader ?? ImageHeader(format: thumbnail.image.format, storedSize: size)
        let draft = try? draft(of: RecipeSource(header: header))
        let frames = draft?.frames ?? 1
        let isGray = options.filter == .greyscale
        let hasAlpha = draft.map(hasAlpha(in: header)) ?? header.hasAlpha
        let isPaged = header.frames > 1
        var members: [(String, JSONValue)] = [
            ("format", .string(Self.name(of: header.format))), ("width", .int(size.width)),
            ("height", .int(size.height * frames)), ("space", .string(isGray ? "b-w" : "srgb")),
            ("channels", .int((isGray ? 1 : 3) + (hasAlpha ? 1 : 0))), ("depth", .string("uchar")),
        ]
        if header.format == .jpeg, header.isChromaSubsampled { members.append(("chromaSubsampling", .string("4:2:0"))) }
        members.append(("isProgressive", .bool(header.isProgressive)))
        if isPaged { members.append(("pages", .int(header.frames))) }
        if frames > 1 { members.append(("pageHeight", .int(size.height))) }
        members.append(("hasProfile", .bool(header.profileByteCount > 0)))
        members.append(("hasAlpha", .bool(hasAlpha)))
        // An image that was turned upright must not be turned again.
        members.append(("orientation", .int(0)))
        return .object(members)
    }

    private func hasAlpha(in header: ImageHeader) -> (RenderDraft) -> Bool {
        { draft in
            let page = header.page(draft.page)
            let source = FrameShape(size: draft.size, hasAlpha: page.hasAlpha)
            return draft.steps.shape(after: source).hasAlpha || options.effectiveMask != nil
        }
    }

    private static func name(of format: ImageFormat) -> String {
        switch format {
        case .avif, .heic: "heif"
        case .bmp, .ico, .raw: "magick"
        case .jxl: "unknown"
        default: format.rawValue
        }
    }
}
