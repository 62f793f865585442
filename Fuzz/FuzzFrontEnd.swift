import Dialects
import Imaging
import Text

/// Targets of front-end frameworks: whatever is read makes a plan or an error for images of many sizes, names no other
/// host by a path, and is read the same again.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let place = DialectPlace("/x"), count > 0 else { return 0 }
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count).dropFirst(), as: UTF8.self)
    let dialect: any Dialect =
        switch bytes[0] % 4 {
        case 0: NextDialect(.next, at: place, .next, base: "site:")
        case 1: NextDialect(.vercel, at: place, .vercel, base: "site:")
        case 2: NetlifyDialect(at: place, base: "site:")
        default: AstroDialect(at: place, base: "site:")
        }
    let target = RequestedTarget("/x?" + text, accept: "image/avif,image/webp")
    guard let query = try? dialect.query(in: target) else { return 0 }
    precondition((try? dialect.query(in: target)) == query, "\(text) is read in two ways")
    let source = query.request.source.string
    precondition(
        source.hasPrefix("site:") && !source.hasPrefix("site://") || source.lowercased().hasPrefix("http"),
        "\(text) names \(source)")
    for (width, height) in [(1, 1), (641, 427), (65_500, 3), (9, 9_000)] {
        for (format, frames) in [(ImageFormat.jpeg, 1), (.png, 1), (.gif, 9), (.avif, 1)] {
            let header = ImageHeader(
                format: format, storedSize: PixelSize(width: width, height: height), frames: frames,
                hasAlpha: format == .png)
            guard let plan = try? RenderPlan(query.request.recipe, of: RecipeSource(header: header)) else { continue }
            precondition(
                plan.outputSize.width <= width && plan.outputSize.height <= height, "\(text) enlarges \(header.size)")
        }
    }
    return 0
}
