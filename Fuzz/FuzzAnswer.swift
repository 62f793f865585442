import Coordination
import ImageSandbox
import Imaging
import Memory
import Recipes

/// What a worker says of a small photograph, with the memory that it hands over: whatever is believed can be rendered.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    precondition(isStarted, "the image library does not start")
    let message = Array(UnsafeBufferPointer(start: bytes, count: min(count, WorkerResponse.byteCount)))
    guard let answer = WorkerResponse(message) else { return 0 }
    precondition(WorkerResponse(answer.message) == answer, "\(answer) is read in two ways")
    let rest = Array(UnsafeBufferPointer(start: bytes + message.count, count: count - message.count))
    if case .encoded(let byteCount) = answer, byteCount < 1 << 20,
        var memory = filled(with: rest)
    {
        _ = try? WorkerResponse.file(
            byteCount: byteCount, in: &memory, format: .avif, size: PixelSize(width: 64, height: 48))
    }
    guard case .decoded(let claim) = answer, 1...1 << 20 ~= claim.pixelCount, claim.delayCount < 1 << 10,
        claim.profileCount < 1 << 16
    else { return 0 }
    let headers = [
        ImageHeader(format: .jpeg, storedSize: PixelSize(width: 64, height: 48)),
        ImageHeader(format: .gif, storedSize: PixelSize(width: 64, height: 48), frames: 3),
    ]
    for header in headers {
        let plan = DecodePlan(level: rest.isEmpty ? 1 : 1 << (rest[0] % 4), isAnimated: header.frames > 1)
        guard var memory = filled(with: rest), let image = try? claim.image(in: &memory, of: header, by: plan)
        else { continue }
        let format = header.frames > 1 ? ImageFormat.gif : .jpeg
        let target = PixelSize(width: min(image.size.width, 40), height: min(image.size.height, 30))
        let render = RenderPlan(
            decode: plan, source: header.shape, steps: [ResampleStep(to: target), BackgroundStep(.white)],
            format: format, quality: 80)
        _ = try? ImageRenderer.render(image, plan: render, token: WorkToken())
    }
    return 0
}

/// Memory that a worker has left `bytes` in.
private func filled(with bytes: [UInt8]) -> OutputMemory? {
    guard var kept = try? ReusableMemory("fuzz", isWritable: true), (try? kept.write(SharedBytes(bytes))) != nil else {
        return nil
    }
    return try? OutputMemory(kept, capacity: ReusableMemory.count)
}

/// The image library is started once.
private let isStarted: Bool = (try? ImageLibrary.start()) != nil
