import CPlanar
import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Blending of watermarks, pixel by pixel.
@Suite(.timeLimit(.minutes(1)))
struct OverlayStepTests {
    @Test(
        arguments: [[200, 100, 50], [90], [10, 250, 30, 128], [240, 77], [1, 2, 3, 1]] as [[UInt8]],
        [[20, 220, 120], [60], [255, 0, 128, 100], [30, 200], [9, 8, 7, 0]] as [[UInt8]])
    func `flat colors are mixed exactly, with or without alpha or color`(image: [UInt8], mark: [UInt8]) throws {
        for opacity in [100, 60, 1] {
            let result = try ImageReading.decode(
                WatermarkFixture.file(
                    WatermarkFixture.png(WatermarkFixture.size, image),
                    mark: WatermarkFixture.png(WatermarkFixture.markSize, mark)
                ) { $1.opacity = opacity })
            #expect(result.size == WatermarkFixture.size)
            var inside = WatermarkFixture.mixture(mark, over: image, opacity: opacity)
            var outside = image.map(Int.init)
            if result.bands < 3 {
                inside = [inside[0]] + inside.dropFirst(3)
            } else if outside.count < 3 {
                outside = [outside[0], outside[0], outside[0]] + outside.dropFirst()
            }
            for y in 0..<WatermarkFixture.size.height {
                for x in 0..<WatermarkFixture.size.width {
                    let isCovered = x >= 32 && y >= 20
                    let isAsExpected = result.isClose(x: x, y: y, to: isCovered ? inside : outside, tolerance: 0)
                    #expect(isAsExpected, "\(result.pixel(x: x, y: y)) at \(x),\(y), \(opacity) %")
                    guard isAsExpected else { return }
                }
            }
        }
    }

    @Test func `scaled edges are mixed premultiplied, without a dark or foreign rim`() throws {
        // White, with transparent red pixels.
        let mark = SampleImage(PixelSize(width: 40, height: 40), bands: 4) { x, y in
            10..<30 ~= x && 10..<30 ~= y ? [255, 255, 255, 255] : [255, 0, 0, 0]
        }
        let result = try ImageReading.decode(
            WatermarkFixture.file(
                WatermarkFixture.png(WatermarkFixture.size, [255, 255, 255]),
                mark: SharedBytes(ImageFixture.file(mark, as: .png))
            ) { $1.scale = 2_700 })
        // Resampled pixels with alpha are rounded down.
        #expect(result.pixels.array.allSatisfy { $0 >= 254 })
        // On black: gray at the edges, white inside.
        let black = try ImageReading.decode(
            WatermarkFixture.file(
                WatermarkFixture.png(WatermarkFixture.size, [0, 0, 0]),
                mark: SharedBytes(ImageFixture.file(mark, as: .png))
            ) { $1.scale = 2_700 })
        #expect(black.isClose(x: 34, y: 18, to: [255, 255, 255], tolerance: 2))
        for y in 0..<WatermarkFixture.size.height {
            for x in 0..<WatermarkFixture.size.width {
                let pixel = black.pixel(x: x, y: y)
                #expect(pixel[0] == pixel[1] && pixel[1] == pixel[2])
            }
        }
    }

    @Test func `a watermark at its own size keeps its pixels`() throws {
        let mark = SharedBytes(ImageFixture.file(.quarters(PixelSize(width: 10, height: 8)), as: .png))
        let result = try ImageReading.decode(
            WatermarkFixture.file(WatermarkFixture.png(WatermarkFixture.size, [0, 0, 0]), mark: mark) {
                ($1.position, $1.x, $1.y) = (.topLeft, 3, 2)
            })
        let quarters = SampleImage.quarters(PixelSize(width: 10, height: 8))
        for y in 0..<WatermarkFixture.size.height {
            for x in 0..<WatermarkFixture.size.width {
                let isCovered = 3..<13 ~= x && 2..<10 ~= y
                let start = ((y - 2) * 10 + x - 3) * 3
                let expected = isCovered ? Array(quarters.pixels[start..<start + 3]) : [0, 0, 0]
                #expect(result.pixel(x: x, y: y) == expected, "\(x),\(y)")
            }
        }
    }

    @Test func `formats without alpha have the background below it`() throws {
        let image = WatermarkFixture.png(WatermarkFixture.size, [0, 0, 0, 0])
        let file = try WatermarkFixture.file(
            image, mark: WatermarkFixture.png(PixelSize(width: 16, height: 16), [0, 0, 255]), as: .jpeg)
        let result = try ImageReading.decode(file)
        #expect(result.isClose(x: 4, y: 4, to: [255, 255, 255]))
        #expect(result.isClose(x: 34, y: 18, to: [0, 0, 255]))
        let red = try ImageReading.decode(
            WatermarkFixture.file(image, mark: WatermarkFixture.png(WatermarkFixture.markSize, [0, 0, 255, 0])) {
                options, _ in
                options.background = Color(red: 255, green: 0, blue: 0)
            })
        #expect(red.isClose(x: 38, y: 22, to: [255, 0, 0], tolerance: 0))
    }

    @Test(
        arguments: [ImageFormat.jpeg, .webp],
        [(5, 3, false, 100), (4, 2, false, 60), (-3, -5, true, 40), (90, 60, false, 80)])
    func `planes are mixed like pixels, also at odd positions and sides`(
        format: ImageFormat, mark: (x: Int, y: Int, isTiled: Bool, opacity: Int)
    ) throws {
        let size = PixelSize(width: 161, height: 121)
        let image: [UInt8] = [200, 100, 50]
        let source = SharedBytes(ImageFixture.file(.plain(size, image), as: .jpeg, quality: 95))
        let stamp = SampleImage(PixelSize(width: 63, height: 57), bands: 4) { x, y in [20, 220, 120, 200] }
        for quality in [80, 95] {
            let result = try ImageReading.decode(
                WatermarkFixture.file(source, mark: SharedBytes(ImageFixture.file(stamp, as: .png)), as: format) {
                    $0.quality = quality
                    ($1.position, $1.x, $1.y) = (.topLeft, mark.x, mark.y)
                    ($1.isTiled, $1.opacity) = (mark.isTiled, mark.opacity)
                })
            let mixed = WatermarkFixture.mixture([20, 220, 120, 200], over: image, opacity: mark.opacity)
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (inX, inY) = (x - mark.x, y - mark.y)
                    // At the edges, subsampled chroma and ringing are visible.
                    let isAtEdge =
                        [0, 63].contains { abs(inX - $0) <= 16 } || [0, 57].contains { abs(inY - $0) <= 16 }
                    let isCovered = mark.isTiled || 0..<63 ~= inX && 0..<57 ~= inY
                    guard mark.isTiled || !isAtEdge else { continue }
                    let isAsExpected = result.isNear(
                        x: x, y: y, isCovered ? mixed : image.map(Int.init), tolerance: 10)
                    #expect(isAsExpected, "\(result.pixel(x: x, y: y)) at \(x),\(y)")
                    guard isAsExpected else { return }
                }
            }
        }
    }

    @Test(arguments: [1, 2], [(0, 0), (3, 5), (10, 6)])
    func `a stamp on planes covers its area exactly`(step: Int, place: (x: Int, y: Int)) throws {
        let size = PixelSize(width: 13, height: 9)
        var target = PlanarTarget(of: size)
        target.chromaStep = step
        let planes = target.planes(ofGray: false)
        let memory = try PlaneMemory(count: planes.byteCount)
        for (plane, value) in zip(planes, [100, 90, 80] as [UInt8]) { memory.fill(plane, with: value) }
        let white = SampleImage.plain(PixelSize(width: 2, height: 2), [255, 255, 255, 255])
        let stamp = PlaneStamp(
            samples: try DecodedImage(pixels: SharedBytes(white.pixels), size: white.size, bands: 4).split(to: .full),
            x: place.x, y: place.y, coveredSize: PixelSize(width: 3, height: 3), opacity: 100)
        try stamp.apply(to: unsafe CPlanarPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes)))
        let samples = memory.finish().array
        func isCovered(_ x: Int, _ y: Int) -> Bool { place.x..<place.x + 3 ~= x && place.y..<place.y + 3 ~= y }
        for (index, plane) in planes.enumerated() {
            let (side, before) = (index == 0 ? 1 : step, [100, 90, 80][index])
            for y in 0..<plane.size.height {
                for x in 0..<plane.size.width {
                    let pixels = (0..<side * side).map { part in
                        isCovered(
                            min(x * side + part % side, size.width - 1), min(y * side + part / side, size.height - 1))
                    }
                    let covered = pixels.filter(\.self).count
                    let after = index == 0 ? 255 : 128
                    let expected =
                        (after * covered + before * (side * side - covered) + side * side / 2) / (side * side)
                    let sample = samples[plane.offset + y * plane.stride + x]
                    #expect(Int(sample) == expected, "plane \(index) at \(x),\(y)")
                }
            }
        }
    }
}
