import Dialects
import Recipes
import Text

/// Targets of front-end frameworks: whatever is read makes a plan or an error for images of many sizes, names no other
/// host by a path, and is read the same again.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let prefix = PathPrefix("/x"), count > 0 else { return 0 }
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count).dropFirst(), as: UTF8.self)
    let (dialect, mark, mayEnlarge): (any Dialect, String, Bool) =
        switch bytes[0] % 6 {
        case 0: (NextDialect(.next, at: prefix, configuration: .next, base: "site:"), "?", false)
        case 1: (NextDialect(.vercel, at: prefix, configuration: .vercel, base: "site:"), "?", false)
        case 2: (NetlifyDialect(at: prefix, base: "site:"), "?", false)
        case 3: (AstroDialect(at: prefix, base: "site:"), "?", false)
        case 4: (CloudflareDialect(at: prefix, base: "site:"), "/", true)
        default: (IPXDialect(at: prefix, base: "site:"), "/", true)
        }
    let target = RequestedTarget("/x\(mark)\(text)", accept: "image/avif,image/webp")
    guard let query = try? dialect.request(in: target) else { return 0 }
    precondition((try? dialect.request(in: target)) == query, "\(text) is read in two ways")
    let source = query.source.string
    precondition(
        source.hasPrefix("site:") && !source.hasPrefix("site://") || source.lowercased().hasPrefix("http"),
        "\(text) names \(source)")
    for (width, height) in [(1, 1), (641, 427), (65_500, 3), (9, 9_000)] {
        for (format, frames, orientation) in [
            (ImageFormat.jpeg, 1, QuarterTurn.none), (.jpeg, 1, QuarterTurn(quarters: 1)), (.png, 1, .none),
            (.gif, 9, .none),
        ] {
            let header = ImageHeader(
                format: format, storedSize: PixelSize(width: width, height: height), orientation: orientation,
                frames: frames, hasAlpha: format == .png)
            guard let plan = try? RenderPlan(query.recipe, of: RecipeSource(header: header)) else { continue }
            let (size, own) = (plan.outputSize, header.size)
            precondition(
                mayEnlarge || size.width <= own.width && size.height <= own.height, "\(text) enlarges \(own)")
        }
    }
    return 0
}
