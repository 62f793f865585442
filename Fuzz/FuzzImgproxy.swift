import Dialects
import Recipes
import Text

/// Targets of imgproxy: whatever is read makes a plan or an error for images of many sizes, and is read the same again.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    var configuration = ImgproxyConfiguration()
    configuration.prefix = PathPrefix("/")
    configuration.presets = ["default": "g:no", "a": "w:9/pr:b", "b": "h:9/pr:a"]
    configuration.watermark = "marks:a.png"
    configuration.allowsSecurityOptions = true
    guard let dialect = ImgproxyDialect(configuration) else { return 0 }
    let target = RequestedTarget("/" + parts[0], accept: parts.count == 2 ? parts[1] : nil)
    _ = dialect.isAuthentic(target)
    guard let query = try? dialect.request(in: target) else { return 0 }
    precondition((try? dialect.request(in: target)) == query, "\(target) is read in two ways")
    for (width, height) in [(1, 1), (641, 427), (65_500, 3), (9, 9_000)] {
        for (format, frames, orientation) in [
            (ImageFormat.jpeg, 1, QuarterTurn(quarters: 1)), (.png, 1, .none), (.gif, 9, .none), (.webp, 1, .none),
        ] {
            let header = ImageHeader(
                format: format, storedSize: PixelSize(width: width, height: height), orientation: orientation,
                frames: frames, hasAlpha: format == .png)
            _ = try? RenderPlan(
                query.recipe,
                of: RecipeSource(header: header, additions: query.additional.map { _ in header }))
        }
    }
    return 0
}
