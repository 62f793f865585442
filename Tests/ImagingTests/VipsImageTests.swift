import CVips
import CVipsShim
import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

@Suite(.timeLimit(.minutes(1)))
struct VipsImageTests {
    @Test func `a watched image stops computing when its token is canceled`() throws {
        try ImageLibrary.start()
        let source = SharedBytes([1, 2, 3])
        let token = WorkToken()
        try unsafe source.withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.wrapping(bytes, width: 1, height: 1, bands: 3)
                .embedded(left: 0, top: 0, in: PixelSize(width: 3_000, height: 3_000), background: [1, 2, 3])
            image.watch(token)
            #expect(try image.pixels(token: token).count == 27_000_000)
            token.cancel()
            #expect(throws: CancellationError.self) { try image.pixels(token: token) }
            for (format, other) in [(ImageFormat.gif, WorkToken()), (.webp, token), (.png, token), (.jpeg, token)] {
                #expect(throws: VipsError.self) {
                    try image.saved(
                        as: format,
                        options: VipsSaveOptions(settings: EncoderSettings(quality: 80, effort: 2), token: other))
                }
            }
        }
        extendLifetime(token)
    }

    @Test func `a stack of frames may be read at two positions concurrently`() throws {
        try ImageLibrary.start()
        // A frame has many strips, which are the rows computed at once.
        let (height, frames) = (5_000, 3)
        let rows = (0..<height * frames).map { UInt8($0 % 251) }
        try unsafe SharedBytes(rows).withUnsafeBytes { bytes throws in
            let stack = try VipsImage.stacked(
                (0..<frames).map { frame in
                    let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[frame * height..<(frame + 1) * height])
                    // Convert back and forth, because plain memory would be read in place.
                    return try unsafe VipsImage.wrapping(part, width: 1, height: height, bands: 1)
                        .cast(to: VIPS_FORMAT_USHORT).cast(to: VIPS_FORMAT_UCHAR)
                })
            #expect(stack.height == height * frames)
            let (first, second) = (
                try stack.extracted(left: 0, top: 0, width: 1, height: 12_000),
                try stack.extracted(left: 0, top: 100, width: 1, height: 12_000)
            )
            let pairs = try first.joined(with: second).pixels(token: WorkToken()).array
            // The comparison is separate so that a failure does not print all rows.
            let isRight = pairs == (0..<12_000).flatMap { [rows[$0], rows[$0 + 100]] }
            #expect(isRight)
        }
    }

    @Test func `a box at the edge is the mean of its existing pixels, weighted by alpha`() throws {
        try ImageLibrary.start()
        // Three columns and rows of gray with alpha: the last box in each direction contains one or two pixels.
        let source = SharedBytes([10, 255, 20, 255, 30, 51, 40, 255, 50, 255, 90, 204, 70, 0, 80, 0, 99, 255])
        let token = WorkToken()
        try unsafe source.withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.wrapping(bytes, width: 3, height: 3, bands: 2)
            let averaged = try image.boxAveraged(by: 2, token: token)
            #expect(averaged.width == 2 && averaged.height == 2)
            #expect(try averaged.pixels(token: token).array == [30, 255, 78, 128, 0, 0, 99, 255])
            token.cancel()
            #expect(throws: VipsError.self) { try image.boxAveraged(by: 2, token: token) }
        }
        extendLifetime(token)
    }

    @Test(arguments: [2, 3, 4, 8])
    func `boxes of colors with alpha have weighted means, whole and narrow ones`(factor: Int) throws {
        try ImageLibrary.start()
        let (width, height) = (8 * 11 + 5, 8 * 5 + 3)
        // A tenth of the pixels are transparent and a tenth opaque, including whole boxes, whose means are extreme.
        var state: UInt32 = 7
        func random() -> Int {
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 16)
        }
        var pixels = [UInt8](repeating: 0, count: 4 * width * height)
        for pixel in 0..<width * height {
            let (column, row) = (pixel % width / 16, pixel / width / 16)
            for band in 0..<3 { pixels[4 * pixel + band] = column == 1 ? 255 : UInt8(random() % 256) }
            let alpha = [0, 255][random() % 2]
            pixels[4 * pixel + 3] = UInt8(
                row == 1 ? 255 : column == 2 ? 0 : column == 3 ? 1 : random() % 5 == 0 ? alpha : random() % 256)
        }
        var expected: [UInt8] = []
        for top in stride(from: 0, to: height, by: factor) {
            for left in stride(from: 0, to: width, by: factor) {
                var (colors, alphas, count) = ([0, 0, 0], 0, 0)
                for y in top..<min(top + factor, height) {
                    for x in left..<min(left + factor, width) {
                        let pixel = pixels[4 * (y * width + x)..<4 * (y * width + x) + 4].map(Int.init)
                        for band in 0..<3 { colors[band] += pixel[band] * pixel[3] }
                        alphas += pixel[3]
                        count += 1
                    }
                }
                expected += colors.map { alphas == 0 ? 0 : UInt8(($0 + alphas / 2) / alphas) }
                expected.append(UInt8((alphas + count / 2) / count))
            }
        }
        let token = WorkToken()
        try unsafe SharedBytes(pixels).withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.wrapping(bytes, width: width, height: height, bands: 4)
            #expect(try image.boxAveraged(by: factor, token: token).pixels(token: token).array == expected)
        }
        extendLifetime(token)
    }

    @Test(arguments: [1, 3])
    func `opaque boxes are averaged in integers, the narrow ones at the edges too`(bands: Int) throws {
        try ImageLibrary.start()
        let rows: [[UInt8]] = [[10, 20, 90], [30, 41, 91], [7, 8, 255]]
        let source = SharedBytes(rows.flatMap { $0.flatMap { [UInt8](repeating: $0, count: bands) } })
        let token = WorkToken()
        try unsafe source.withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.wrapping(bytes, width: 3, height: 3, bands: bands)
            let averaged = try image.boxAveraged(by: 2, token: token)
            #expect(averaged.width == 2 && averaged.height == 2)
            let expected = [25, 91, 8, 255].flatMap { [UInt8](repeating: $0, count: bands) }
            #expect(try averaged.pixels(token: token).array == expected)
        }
        extendLifetime(token)
    }

    @Test func `a column is computed in strips of a few hundred rows, though many more fit in one`() throws {
        try ImageLibrary.start()
        let height = 20_000
        var asked = 0
        try unsafe SharedBytes([1, 2, 3]).withUnsafeBytes { bytes throws in
            let column = try unsafe VipsImage.wrapping(bytes, width: 1, height: 1, bands: 3)
                .embedded(left: 0, top: 0, in: PixelSize(width: 1, height: height), background: [1, 2, 3])
            var pixels = [UInt8](repeating: 0, count: 3 * height)
            let status = unsafe column.withRaw { raw in
                unsafe CVipsShim_compute(raw, &pixels, countAndGoOn, &asked)
            }
            #expect(status == 0 && pixels[(3 * height - 3)...] == [1, 2, 3])
        }
        #expect(asked >= height / 512)
    }

    @Test func `a failure has its reason`() throws {
        try ImageLibrary.start()
        #expect {
            try unsafe SharedBytes([0xFF, 0xD8, 0xFF]).withUnsafeBytes { bytes throws in
                _ = try unsafe VipsImage.loading(bytes, format: .jpeg, options: VipsLoadOptions())
            }
        } throws: {
            ($0 as? VipsError)?.text.isEmpty == false
        }
    }
}

/// Counts calls in its context, an `Int`.
private func countAndGoOn(_ count: UnsafeMutableRawPointer?) -> Int32 {
    unsafe count?.assumingMemoryBound(to: Int.self).pointee += 1
    return 0
}
