import Dialects
import Recipes
import Text

/// Targets of thumbor and imagor: whatever is taken becomes a plan for images of several sizes, or an error.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var configuration = ThumborConfiguration()
    configuration.prefix = PathPrefix("/")
    guard let dialect = ThumborDialect(configuration) else { fatalError("no dialect at /") }
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    let target = RequestedTarget("/unsafe/" + text, accept: "image/webp")
    precondition(dialect.isAuthentic(target), "\(text) is not unsafe")
    guard let query = try? dialect.request(in: target) else { return 0 }
    guard let again = try? dialect.request(in: target), again == query else { fatalError("\(text) has two readings") }
    precondition(query.additional.count <= 8, "\(text) asks for too many sources")
    for (width, height) in [(1, 1), (641, 427), (16_384, 1), (10_000, 10_000)] {
        let header = ImageHeader(
            format: .png, storedSize: PixelSize(width: width, height: height), bands: 4, frames: 1, hasAlpha: true)
        let plan = try? RenderPlan(
            query.recipe,
            of: RecipeSource(header: header, additions: query.additional.map { _ in header }))
        guard let size = plan?.outputSize else { continue }
        precondition(size.width > 0 && size.height > 0, "\(text) makes an image of \(size)")
    }
    return 0
}
