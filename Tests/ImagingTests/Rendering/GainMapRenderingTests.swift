import Coordination
import Glibc
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Images with gain maps, from file to file.
struct GainMapRenderingTests {
    private func keeping(_ width: Int? = nil, _ height: Int? = nil, _ fit: Fit = .inside) -> RenderingOptions {
        var options = RenderingOptions()
        (options.width, options.height, options.fit, options.gainMap) = (width, height, fit, .keep)
        return options
    }

    /// The light of a file with its map at full headroom, as floating-point RGB.
    private func light(of file: SharedBytes) throws -> (size: PixelSize, samples: [Double]) {
        let header = try ImageHeader.inspect(file)
        let map = try #require(header.gainMap)
        let mapFile = try #require(map.file(in: file))
        return try light(of: ImageReading.decode(file), gains: ImageReading.decode(mapFile), by: map.metadata)
    }

    /// The light of an image with the gains of a map.
    private func light(
        of image: DecodedImage, gains: DecodedImage, by metadata: GainMapMetadata
    ) -> (size: PixelSize, samples: [Double]) {
        let (pixels, samples) = (image.pixels.array, gains.pixels.array)
        let channels = (0..<3).map { metadata.channels[$0 % metadata.channels.count] }
        let curve = (0..<256).map { value -> Double in
            let component = Double(value) / 255
            return component <= 0.040_45 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4)
        }
        var light: [Double] = []
        light.reserveCapacity(pixels.count)
        func places(_ place: Int, _ count: Int, _ whole: Int) -> (Int, Int, Double) {
            let place = min(max((Double(place) + 0.5) * Double(count) / Double(whole) - 0.5, 0), Double(count - 1))
            let first = Int(place)
            return (first, min(first + 1, count - 1), place - Double(first))
        }
        for y in 0..<image.size.height {
            let (top, bottom, down) = places(y, gains.size.height, image.size.height)
            for x in 0..<image.size.width {
                let (left, right, across) = places(x, gains.size.width, image.size.width)
                for index in 0..<3 {
                    func sample(_ x: Int, _ y: Int) -> Double {
                        Double(samples[(y * gains.size.width + x) * gains.bands + index % gains.bands]) / 255
                    }
                    let upper = sample(left, top) * (1 - across) + sample(right, top) * across
                    let lower = sample(left, bottom) * (1 - across) + sample(right, bottom) * across
                    let value = pow(upper * (1 - down) + lower * down, 1 / channels[index].gamma.value)
                    let (minimum, maximum) = (channels[index].minimum.value, channels[index].maximum.value)
                    let base = curve[Int(pixels[(y * image.size.width + x) * 3 + index])]
                    light.append(
                        (base + channels[index].baseOffset.value) * exp2(minimum + (maximum - minimum) * value)
                            - channels[index].alternateOffset.value)
                }
            }
        }
        return (image.size, light)
    }

    /// The mean over the area of each target pixel.
    private func resized(_ image: (size: PixelSize, samples: [Double]), to size: PixelSize) -> [Double] {
        func weights(_ whole: Int, _ count: Int) -> [[(Int, Double)]] {
            (0..<count).map { place in
                let (start, end) = (Double(place * whole) / Double(count), Double((place + 1) * whole) / Double(count))
                return (Int(start)..<min(whole, Int(end.rounded(.up)))).map { source in
                    (source, (min(end, Double(source + 1)) - max(start, Double(source))) / (end - start))
                }
            }
        }
        let (across, down) = (weights(image.size.width, size.width), weights(image.size.height, size.height))
        var rows = [Double](repeating: 0, count: size.width * image.size.height * 3)
        for y in 0..<image.size.height {
            for (x, parts) in across.enumerated() {
                for (source, weight) in parts {
                    for index in 0..<3 {
                        rows[(y * size.width + x) * 3 + index] +=
                            weight * image.samples[(y * image.size.width + source) * 3 + index]
                    }
                }
            }
        }
        var result = [Double](repeating: 0, count: size.area * 3)
        for (y, parts) in down.enumerated() {
            for (source, weight) in parts {
                for index in 0..<size.width * 3 {
                    result[y * size.width * 3 + index] += weight * rows[source * size.width * 3 + index]
                }
            }
        }
        return result
    }

    @Test(arguments: [300, 500, 1_200], [1, 4])
    func `a resized image is as bright as its source, and its map has the same meaning`(width: Int, scale: Int) throws {
        try ImageLibrary.start()
        var writer = UltraHDRWriter.scene(PixelSize(width: 1_280, height: 160), scale: scale, isColor: scale == 1)
        (writer.gains, writer.gamma) = (scale == 1 ? [(0, 48), (-4, 40), (0, 32)] : [(-4, 48)], 20)
        let source = writer.bytes
        let result = try thumbnail(source, keeping(width), .jpeg)
        #expect(result.hasGainMap)
        let (before, after) = (try ImageHeader.inspect(source), try ImageHeader.inspect(result.bytes))
        let map = try #require(after.gainMap)
        #expect(map.metadata == before.gainMap?.metadata)
        // XMP and the ISO 21496-1 segment are equal.
        let file = result.bytes.array
        #expect(String(decoding: file, as: Unicode.ASCII.self).contains("hdrgm:HDRCapacityMax=\"3.0\""))
        // The map has full size up to the map's width times two.
        #expect(map.header.storedSize.width == (width <= 2 * 1_280 / scale ? width : 1_280 / scale))
        let shown = try light(of: result.bytes)
        let expected = try resized(light(of: source), to: shown.size)
        let difference = zip(shown.samples, expected).reduce(0) { $0 + abs($1.0 - $1.1) }
        let share = difference / expected.reduce(0, +)
        #expect(share < 0.05)
    }

    /// The light of a file at full headroom if its map were a plain downscale of another file's map.
    private func light(
        of file: SharedBytes, withMeanOf source: SharedBytes
    ) throws -> (size: PixelSize, samples: [Double]) {
        let map = try #require(try ImageHeader.inspect(source).gainMap)
        let gains = try ImageReading.decode(try #require(map.file(in: source)))
        let image = try ImageReading.decode(file)
        let mean = resized(
            (gains.size, gains.pixels.array.flatMap { [Double($0), Double($0), Double($0)] }), to: image.size)
        let averaged = SampleImage(image.size, bands: 1) { x, y in
            [UInt8(mean[3 * (y * image.size.width + x)].rounded())]
        }
        let averages = try ImageReading.decode(SharedBytes(ImageFixture.file(averaged, as: .jpeg, quality: 95)))
        return light(of: image, gains: averages, by: map.metadata)
    }

    @Test(arguments: [300, 500])
    func `where dark and bright pixels are adjacent, light is averaged and not gains`(width: Int) throws {
        try ImageLibrary.start()
        let size = PixelSize(width: 1_280, height: 160)
        func kind(_ x: Int, _ y: Int) -> Int { (x / 4 * 7 + y / 4 * 5 + (x / 4) * (y / 4)) % 3 }
        let image = SampleImage(size, bands: 3) { x, y in [UInt8](repeating: [30, 110, 235][kind(x, y)], count: 3) }
        let map = SampleImage(size, bands: 1) { x, y in [[10, 90, 250][kind(x, y)]] }
        var writer = UltraHDRWriter(image, map: map)
        writer.gamma = 20
        var options = keeping(width)
        options.quality = 95
        let result = try thumbnail(writer.bytes, options, .jpeg).bytes
        let shown = try light(of: result)
        let expected = try resized(light(of: writer.bytes), to: shown.size)
        func error(_ samples: [Double]) -> Double {
            zip(samples, expected).reduce(0) { $0 + abs($1.0 - $1.1) } / expected.reduce(0, +)
        }
        let plain = try error(light(of: result, withMeanOf: writer.bytes).samples)
        // The remaining error is due to the image's filter, which is sharper than a mean.
        #expect(plain > 0.25 && error(shown.samples) < plain * 0.7, "\(error(shown.samples)) and \(plain)")
    }

    @Test(arguments: [40, 80])
    func `a map compensates the quality loss of its image`(quality: Int) throws {
        try ImageLibrary.start()
        let size = PixelSize(width: 1_200, height: 180)
        func value(_ x: Int, _ y: Int, _ salt: Int) -> Int {
            (x / 12 * 37 + y / 12 * 59 + (x / 12) * (y / 12) * salt) % 160 + 40
        }
        let image = SampleImage(size, bands: 3) { x, y in
            let luma = value(x, y, 11)
            return [luma, luma - 20, luma + value(x / 4, y / 4, 7) / 4].map(UInt8.init)
        }
        let map = SampleImage(size, bands: 1) { x, y in [UInt8(60 + value(x, y, 5) / 2)] }
        let source = UltraHDRWriter(image, map: map).bytes
        var options = keeping(300)
        options.quality = quality
        let result = try thumbnail(source, options, .jpeg).bytes
        // The chroma sampling in the frame header: 4:4:4 at any quality.
        let file = result.array
        let frame = try #require(file.indices.first { file[$0] == 0xFF && file[$0 + 1] == 0xC0 })
        #expect(file[frame + 11] == 0x11)
        func error(_ one: [Double], _ other: [Double]) -> Double {
            zip(one, other).reduce(0) { $0 + abs($1.0 - $1.1) } / other.reduce(0, +)
        }
        let shown = try light(of: result)
        let difference = try error(shown.samples, resized(light(of: source), to: shown.size))
        // A map without gain shows the plain image.
        let none = try ImageReading.decode(
            SharedBytes(ImageFixture.file(SampleImage(shown.size, bands: 1) { _, _ in [0] }, as: .jpeg, quality: 95)))
        let metadata = try #require(try ImageHeader.inspect(source).gainMap?.metadata)
        let alone = try error(
            light(of: ImageReading.decode(result), gains: none, by: metadata).samples,
            resized(light(of: ImageReading.decode(source), gains: none, by: metadata), to: shown.size))
        #expect(difference < alone / 2 && difference < 0.05, "\(difference) and \(alone)")
    }

    @Test(arguments: [Gamut.srgb, .p3], [300, 500])
    func `the gains of an image in Display P3 are unchanged in each gamut`(gamut: Gamut, width: Int) throws {
        try ImageLibrary.start()
        let size = PixelSize(width: 1_200, height: 800)
        let colors: [[UInt8]] = [[190, 70, 60], [80, 180, 90], [60, 70, 190], [150, 150, 60]]
        let image = SampleImage(size, bands: 3) { x, y in colors[x * 2 / 1_200 + y * 2 / 800 * 2] }
        var writer = UltraHDRWriter(image, map: SampleImage(size, bands: 1) { _, _ in [130] })
        writer.image = JPEGFormat.withDisplayP3(SharedBytes(writer.image), size: size).array
        var options = keeping(width)
        options.gamut = gamut
        let result = try thumbnail(writer.bytes, options, .jpeg).bytes
        let map = try #require(try ImageHeader.inspect(result).gainMap)
        let gains = try ImageReading.decode(try #require(map.file(in: result)))
        for (x, y) in [(1, 1), (3, 1), (1, 3), (3, 3)] {
            #expect(gains.isClose(x: gains.size.width * x / 4, y: gains.size.height * y / 4, to: [130], tolerance: 3))
        }
    }

    /// An image of four quarters, with a different map value in each.
    private func quarters(orientation: Int = 1, scale: Int = 4) -> SharedBytes {
        let (width, height) = (192 / scale, 128 / scale)
        let map = SampleImage(PixelSize(width: width, height: height), bands: 1) { x, y in
            [[[20], [90]], [[160], [230]]][y * 2 / height][x * 2 / width]
        }
        return UltraHDRWriter(.quarters(PixelSize(width: 192, height: 128)), map: map, orientation: orientation).bytes
    }

    private func isAligned(_ file: SharedBytes) throws -> Bool {
        let header = try ImageHeader.inspect(file)
        let map = try #require(header.gainMap)
        let mapFile = try #require(map.file(in: file))
        let (image, gains) = (try ImageReading.decode(file), try ImageReading.decode(mapFile))
        let values: [([Int], Int)] = [
            ([255, 0, 0], 20), ([0, 255, 0], 90), ([0, 0, 255], 160), ([255, 255, 255], 230),
        ]
        var seen: Set<Int> = []
        // Positions around which the image has one color.
        for index in 0..<144 {
            let (across, down) = (2 * (index % 12) + 1, 2 * (index / 12) + 1)
            let (x, y) = (image.size.width * across / 24, image.size.height * down / 24)
            let around = [(-4, -4), (4, -4), (-4, 4), (4, 4)].map { (x + $0.0, y + $0.1) }.filter {
                0..<image.size.width ~= $0.0 && 0..<image.size.height ~= $0.1
            }
            guard
                let value = values.first(where: { value in
                    around.allSatisfy { image.isClose(x: $0.0, y: $0.1, to: value.0, tolerance: 40) }
                })?.1
            else { continue }
            let place = (gains.size.width * across / 24, gains.size.height * down / 24)
            guard gains.isClose(x: place.0, y: place.1, to: [value], tolerance: 12) else { return false }
            seen.insert(value)
        }
        return seen.count >= 2
    }

    @Test(arguments: 1...8)
    func `a map is rotated and cropped like its image`(orientation: Int) throws {
        try ImageLibrary.start()
        // A result that is larger than the visible part of the map, and one that is smaller.
        let sources = [4, 1].map { quarters(orientation: orientation, scale: $0) }
        #expect(try isAligned(thumbnail(sources[0], keeping(), .jpeg).bytes))
        for flip in ImageOperations.Flip.allCases {
            for rotation in [0, 90, 180, 270] {
                for source in sources {
                    var options = keeping(60, 48, .cover)
                    options.quality = 95
                    options.operations.flip = flip
                    options.operations.rotation = rotation
                    options.operations.crop = .fractions(x: 1_250, y: 0, width: 7_500, height: 8_000)
                    let result = try thumbnail(source, options, .jpeg)
                    #expect(result.hasGainMap && result.size == PixelSize(width: 60, height: 48))
                    #expect(try isAligned(result.bytes), "\(flip) \(rotation)")
                }
            }
        }
    }

    @Test(arguments: [Gravity.attention, .entropy], [0, 90])
    func `a map is cropped to the salient part of its image`(gravity: Gravity, rotation: Int) throws {
        var options = keeping(60, 60, .cover)
        (options.gravity, options.operations.rotation, options.quality) = (gravity, rotation, 95)
        let result = try thumbnail(quarters(), options, .jpeg)
        #expect(result.hasGainMap && result.size == PixelSize(width: 60, height: 60))
        #expect(try isAligned(result.bytes))
    }

    @Test func `a tiny result has a map, too`() throws {
        let result = try thumbnail(quarters(), keeping(8), .jpeg)
        #expect(result.hasGainMap)
        #expect(try ImageHeader.inspect(result.bytes).gainMap?.header.size == PixelSize(width: 8, height: 5))
    }

    @Test func `a map is trimmed with its image`() throws {
        let size = PixelSize(width: 192, height: 128)
        let image = SampleImage(size, bands: 3) { x, y in
            48..<144 ~= x && 32..<96 ~= y ? [255, 0, 0] : [255, 255, 255]
        }
        let map = SampleImage(PixelSize(width: 48, height: 32), bands: 1) { x, y in
            12..<36 ~= x && 8..<24 ~= y ? [200] : [0]
        }
        var options = keeping()
        options.operations.trim = ImageOperations.Trim(tolerance: 40)
        let result = try thumbnail(UltraHDRWriter(image, map: map).bytes, options, .jpeg)
        #expect(result.hasGainMap && abs(result.size.width - 96) < 9)
        let written = try #require(try ImageHeader.inspect(result.bytes).gainMap)
        let gains = try ImageReading.decode(try #require(written.file(in: result.bytes)))
        #expect(gains.meanColor[0] > 185)
    }

    @Test func `steps that change colors or add pixels, and other formats, drop the map`() throws {
        try ImageLibrary.start()
        let source = UltraHDRWriter.scene(PixelSize(width: 320, height: 240)).bytes
        var dropping: [RenderingOptions] = []
        func add(_ change: (inout RenderingOptions) -> Void) {
            var options = keeping(100)
            change(&options)
            dropping.append(options)
        }
        add { $0.operations.pad.left = 4 }
        add { $0.operations[.blur] = 100 }
        add { $0.operations[.grayscale] = 50 }
        add { $0.operations.radius = .maximum }
        add { $0.operations.rotation = 10 }
        add { ($0.height, $0.fit) = (100, .contain) }
        add { $0.gainMap = .drop }
        for options in dropping {
            let result = try thumbnail(source, options, .jpeg)
            #expect(!result.hasGainMap)
            #expect(try ImageHeader.inspect(result.bytes).colors.hdrFormat == .none)
        }
        let other = try thumbnail(source, keeping(100), .webp)
        #expect(!other.hasGainMap)
        // The image itself is the same if chroma is not subsampled without a map.
        var options = keeping(100)
        options.quality = 90
        let kept = try thumbnail(source, options, .jpeg).bytes.array
        options.gainMap = .drop
        let plain = try thumbnail(source, options, .jpeg).bytes.array
        #expect(kept.count > plain.count && kept[(kept.count - 40)...] != plain[(plain.count - 40)...])
        let place = try #require(try ImageHeader.inspect(SharedBytes(kept)).gainMap?.location)
        guard case .file(let range) = place else { return }
        #expect(kept[..<range.lowerBound].suffix(plain.count - 40).elementsEqual(plain.suffix(plain.count - 40)))
    }

    @Test func `an undecodable map is dropped, not the image`() throws {
        try ImageLibrary.start()
        var writer = UltraHDRWriter.scene(PixelSize(width: 320, height: 240))
        writer.map = Array(writer.map.prefix(writer.map.count / 2)) + [UInt8](repeating: 0, count: writer.map.count / 2)
        #expect(try ImageHeader.inspect(writer.bytes).gainMap != nil)
        let result = try thumbnail(writer.bytes, keeping(100), .jpeg)
        var plain = keeping(100)
        plain.gainMap = .drop
        #expect(try !result.hasGainMap && result.bytes.array == thumbnail(writer.bytes, plain, .jpeg).bytes.array)
    }

    @Test func `the size limit covers both images`() throws {
        let source = UltraHDRWriter.scene(PixelSize(width: 640, height: 480)).bytes
        var options = keeping(400)
        options.maximumBytes = 9_000
        let result = try thumbnail(source, options, .jpeg)
        #expect(result.hasGainMap && result.bytes.count <= 9_000)
        options.gainMap = .drop
        let plain = try thumbnail(source, options, .jpeg)
        #expect(try #require(plain.quality) > #require(result.quality))
    }

    @Test func `the key of a result includes its map`() throws {
        let header = try ImageHeader.inspect(UltraHDRWriter.scene(PixelSize(width: 320, height: 240)).bytes)
        let plan = try RenderPlan(options: keeping(100), format: .jpeg, source: header, limits: ImagingLimits())
        #expect(plan.keyTexts == ["page 0 level 1 refuse gain map", "resample 100x75 gamma.2", "jpeg.4 80 gain map.2"])
        #expect(plan.summary.last == "add the gain map, after the same steps")
        var plain = keeping(100)
        plain.gainMap = .drop
        let other = try RenderPlan(options: plain, format: .jpeg, source: header, limits: ImagingLimits())
        #expect(plan.cost > other.cost)
        #expect(header.cost(of: plan.decode) > header.cost(of: other.decode))
        #expect(header.timeCost(of: plan.decode) > header.timeCost(of: other.decode))
    }
}
