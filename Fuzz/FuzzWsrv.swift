import Dialects
import Recipes

/// Targets of weserv/images: each is refused or gives a plan for any source, or an error of its own, and equal targets
/// give equal queries.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    guard let prefix = PathPrefix("/") else { return 0 }
    let dialect = WsrvDialect(at: prefix)
    let target = RequestedTarget("/?url=example.com/a.jpg&" + text)
    guard case .exact = dialect.match(on: target.target.string) else { fatalError("\(text) hides the source") }
    _ = try? dialect.request(in: RequestedTarget("/?" + text))
    guard let query = try? dialect.request(in: target) else { return 0 }
    precondition(query == (try? dialect.request(in: target)), "\(text) is read in two ways")
    let sources = [
        ImageHeader(
            format: .jpeg, storedSize: PixelSize(width: 641, height: 427), orientation: QuarterTurn(quarters: 1)),
        ImageHeader(format: .gif, storedSize: PixelSize(width: 30, height: 3), frames: 5, hasAlpha: true),
        ImageHeader(format: .png, storedSize: PixelSize(width: 1, height: 65_535)),
    ]
    for header in sources {
        let plan = try? RenderPlan(
            query.recipe, of: RecipeSource(header: header))
        precondition((plan?.cost ?? 0) >= 0, "\(text) has a price below 0")
    }
    return 0
}
