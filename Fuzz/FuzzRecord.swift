import Downloading
import Memory
import Recipes
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Records of sources and heads of results as a cache returns them that others can write to: whatever is believed can
/// be used.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: bytes, count: count))
    if let result = RenderedImage(CacheValue(head: bytes, body: SharedBytes([1]))) {
        precondition(result.value.head == bytes, "a result is written in two ways")
        precondition(result.image.size.area > 0 && !result.eTag.utf8.contains(0x0a), "a result that cannot be")
    }
    guard let record = SourceRecord(bytes, of: identity) else { return 0 }
    guard let again = SourceRecord(record.encoded, of: identity), again.encoded == record.encoded else {
        fatalError("a record is not read as it is written")
    }
    for now in [0, 1_800_000_000, 253_402_300_799] {
        _ = (record.freshness.age(at: now), record.freshness.remainingLifetime(at: now))
        _ = Freshness(record.freshness, at: now, isFromCache: true, bounds: ClientMaxAge())
    }
    _ = (record.head.receivedAt.imfFixdate, record.head.requestedAt.imfFixdate, record.head.lastModified?.imfFixdate)
    for request in requests {
        guard let key = try? ResultKey(for: request, of: PerSource(record), by: configuration) else { continue }
        _ = record.header.cost(of: key.plan.decode, fileByteCount: record.byteCount)
        _ = record.header.maximumPixelBytes(of: key.plan.decode)
        _ = key.decodeKey.timeCost(of: record.header, fileByteCount: record.byteCount)
        _ = (key.plan.cost, key.plan.timeCost(of: record.header), key.name())
    }
    return 0
}

private let identity: SourceIdentity = {
    guard let url = try? SourceURL(parsing: "http://example.com/a") else { fatalError("no URL") }
    return SourceIdentity(url: url)
}()

private let configuration: PipelineConfiguration = {
    var configuration = PipelineConfiguration()
    configuration.rules.limits.sourceFormats = Set(ImageFormat.allCases)
    return configuration
}()

private let requests: [Request] = {
    var plain = RenderingOptions()
    plain.width = 300
    var page = plain
    (page.page, page.height, page.fit) = (1, 200, .cover)
    var animation = plain
    (animation.isAnimated, animation.format) = (true, .fixed(.webp))
    return [plain, page, animation].map { Request(source: "http://example.com/a", options: $0) }
}()
