import Dialects
import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Targets of imaginary, and the JSON of its pipelines: each is refused or gives a plan for any source, or an error of
/// its own, and equal targets give equal queries.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    var configuration = ImaginaryConfiguration()
    configuration.prefix = PathPrefix("/")
    configuration.signatureKey = [UInt8](repeating: 1, count: 32)
    guard let dialect = ImaginaryDialect(configuration) else { return 0 }
    let json = "/pipeline?operations=" + URLEscape.encode(text)
    for path in ["/" + text, "/resize?" + text, "/extract?areawidth=9&areaheight=9&" + text, json] {
        let target = RequestedTarget(path)
        if dialect.isAuthentic(target) { fatalError("\(text) is signed") }
        guard let request = try? dialect.uploadRequest(in: target) else { continue }
        precondition(request == (try? dialect.uploadRequest(in: target)), "\(text) is read in two ways")
        check(request, text)
    }
    return 0
}

private func check(_ query: Request, _ text: String) {
    let sources = [
        ImageHeader(
            format: .jpeg, storedSize: PixelSize(width: 641, height: 427), orientation: QuarterTurn(quarters: 1)),
        ImageHeader(format: .gif, storedSize: PixelSize(width: 30, height: 3), frames: 5, hasAlpha: true),
        ImageHeader(format: .png, storedSize: PixelSize(width: 1, height: 65_535)),
    ]
    let mark = ImageHeader(format: .png, storedSize: PixelSize(width: 65_535, height: 3), bands: 4, hasAlpha: true)
    for header in sources {
        let source = RecipeSource(header: header, additions: query.additional.map { _ in mark })
        let plan = try? RenderPlan(query.recipe, of: source)
        precondition((plan?.cost ?? 0) >= 0, "\(text) has a price below 0")
    }
}
