import Coordination
import Crypto
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// The exact result of each operation on a still image, and its approximate result on an animation.
///
/// The still image is not resampled and its result is lossless, so its pixels depend only on this service's code. If a
/// result changes intentionally, copy the new row from the failure's comment.
@Suite(.timeLimit(.minutes(1)))
struct OperationGoldenTests {
    struct Golden: Sendable, CustomTestStringConvertible {
        let name: String
        /// The first half of the SHA-256 of the still image's RGBA pixels.
        let still: String
        /// Means of four quarters of the animation's first and last frame: RGBA in hexadecimal digits.
        let frames: String
        let change: @Sendable (inout ImageOperations) -> Void

        var testDescription: String { name }
    }

    private static let goldens: [Golden] = [
        Golden(
            name: "none", still: "61×44 d2e331a0a087ac5000d5b6a21af45216",
            frames: "2822b4ff645e96ff4531a4ff826d87ff784a8cffb4856eff96597dffd2955fff"
        ) { _ in },
        Golden(
            name: "trim", still: "53×38 c2e504eaf529647bae9b5847b70b7fd0",
            frames: ""
        ) { $0.trim = .init(tolerance: 9) },
        Golden(
            name: "crop", still: "43×26 82096b0fbf80abc2dcee490471d89d75",
            frames: "2924b4ff5c529aff4532a5ff7a628cff784b8cffab7a72ff955b7effc98963ff"
        ) { $0.crop = .fractions(x: 1_000, y: 2_000, width: 7_000, height: 6_000) },
        Golden(
            name: "crop in pixels", still: "40×30 832f8b394282d98d781740b3f31ec2c7",
            frames: "2822b4ff564c9dff4531a5ff735c8fff784a8cffa57476ff96597effc38467ff"
        ) { $0.crop = .pixels(x: 5, y: 7, width: 40, height: 30) },
        Golden(
            name: "flip=h", still: "61×44 e04a145d2b245372e1f5cbae900da1a8",
            frames: "655e96ff2822b4ff826d87ff4631a5ffb3856eff774a8cffd2955fff96597dff"
        ) { $0.flip = .horizontal },
        Golden(
            name: "flip=v", still: "61×44 735b1021174ac80bca46fbbd0bcef8fb",
            frames: "4630a5ff826d87ff2822b4ff645e96ff95597dffd2955fff784a8cffb3866eff"
        ) { $0.flip = .vertical },
        Golden(
            name: "rotate=90", still: "44×61 c70999cb2a02420c7f23e4a3e8174160",
            frames: "4631a5ff2822b4ff826d87ff645e96ff95597dff784a8cffd2955fffb3856eff"
        ) { $0.rotation = 90 },
        Golden(
            name: "rotate=180", still: "61×44 01a5f23accde941175f8907053d56c76",
            frames: "826d87ff4631a5ff645e96ff2922b4ffd2955fff96597dffb4866eff784a8cff"
        ) { $0.rotation = 180 },
        Golden(
            name: "rotate=270", still: "44×61 2e7957ab74cdee66116ab6b7dec64435",
            frames: "655e96ff826d87ff2822b5ff4631a4ffb4856effd2955fff784a8cff96597eff"
        ) { $0.rotation = 270 },
        Golden(
            name: "rotate=30", still: "75×69 bbe366253845172a7eeba0e104fab25b",
            frames: "1f166c9e2421436d241b436d4a42579e502f539e4633326d472c326d7c5b3e9e"
        ) { $0.rotation = 30 },
        Golden(
            name: "brightness", still: "61×44 9f3738b342ddfdd7c5e7abba072a41a0",
            frames: "3830fcff8c83d2ff6245e7ffb699bdffa868c4fffcbc9bffd27daffffed186ff"
        ) { $0[.brightness] = 140 },
        Golden(
            name: "contrast", still: "61×44 9ce0826ecaa45abc437e0b860f760d73",
            frames: "4b479fff6f6b8dff5c5095ff817484ff7b5f87ff9e8375ff8c687effb18c6cff"
        ) { $0[.contrast] = 60 },
        Golden(
            name: "saturate", still: "61×44 4f9ea0a1ef42685ca04da42e7ccbb6a1",
            frames: "2418feff6559bfff4c27f8ff8e6897ff913fb5ffd27f55ffb94c8efffa8e2dff"
        ) { $0[.saturation] = 180 },
        Golden(
            name: "hue", still: "61×44 95bbd6a5a30dd62e6baf315db7795e55",
            frames: "ab0662ff935373ffa11e5aff8a6d6dff94484dff7d985fff8c6245ff74b158ff"
        ) { $0[.hue] = 70 },
        Golden(
            name: "grayscale", still: "61×44 9ed13eb5ec011e8d6fae2b588cb48598",
            frames: "2d2b49ff63626dff3f3b52ff767277ff5e5563ff968c88ff72656dffa89c91ff"
        ) { $0[.grayscale] = 80 },
        Golden(
            name: "sepia", still: "61×44 2cb92750aa73141e1209c70b57961678",
            frames: "413a5bff807371ff584b60ff978576ff7f6769ffbea17fff97796fffd5b385ff"
        ) { $0[.sepia] = 70 },
        Golden(
            name: "invert", still: "61×44 956d42913c14edf44801bcc883b68879",
            frames: "d6dc4bff9aa069ffb9cd59ff7d9177ff87b473ff4b7891ff69a581ff2d69a0ff"
        ) { $0[.inversion] = 100 },
        Golden(
            name: "all colors", still: "61×44 7d09362784b074c7232c56c8de7d966a",
            frames: "535f51ff6f7560ff566552ff787e74ff5f715dff888d92ff687a6fff9195a2ff"
        ) { ($0[.contrast], $0[.hue], $0[.sepia], $0[.inversion]) = (130, 200, 40, 30) },
        Golden(
            name: "blur=2", still: "61×44 1af7f59b4a059d903ed749907c99e941",
            frames: "2a23b3ff645e96ff4631a4ff7f6c88ff7a4b8bffb3856eff96597dffcf9460ff"
        ) { $0[.blur] = 200 },
        Golden(
            name: "blur=10", still: "61×44 ee22cc4821dfab96bd7c7c4e1d6b86bf",
            frames: "352aadff615b97ff4833a4ff74658eff855285ffb18370ff985b7cffc48d65ff"
        ) { $0[.blur] = 1_000 },
        Golden(
            name: "blur=100", still: "61×44 8872558b6350209802509452c860241b",
            frames: "50429fff574c9cff52439eff594d9bffa06a78ffa77474ffa36b77ffa97573ff"
        ) { $0[.blur] = 10_000 },
        Golden(
            name: "sharpen=0.8", still: "61×44 1235ee2a1017afbd542ba9bf12541785",
            frames: "2722b4ff645e96ff4631a5ff836d87ff77498cffb4866eff95597dffd3965fff"
        ) { $0[.sharpen] = 80 },
        Golden(
            name: "pixelate=7", still: "61×44 b63b7f97f5b1d5361326c03dd0edafc8",
            frames: "2c24b2ff635c97ff4732a4ff7e6b89ff7b4c8affb2856fff985a7cffce9361ff"
        ) { $0[.pixelate] = 7 },
        Golden(
            name: "pad", still: "67×48 dd3acf6d941fea07322c280085cf7f7c",
            frames: "231d97d65a5487e535257fc46a5870d1653e75d6a17863e5734461c4ab794fd1"
        ) { $0.pad = .init(top: 1, right: 2, bottom: 3, left: 4) },
        Golden(
            name: "radius=12", still: "61×44 93003e45a995665f1110f4f132f7fd1d",
            frames: "2621acf360598ff3422f9df37c6781f3724785f3ab7f69f38e5577f3c88d5bf3"
        ) { $0.radius = .pixels(12) },
        Golden(
            name: "radius=max", still: "61×44 0197201f939b88fffb0d503eb894f896",
            frames: "221e98d6544d7ed63b2b8ad66d5a72d6654076d6976f5dd67e4c69d6b17b50d6"
        ) { $0.radius = .maximum },
        Golden(
            name: "mask=circle", still: "61×44 444366b3dc77323518c94621b4488d3f",
            frames: "1716679239325692281f5f924a3b4e92452e5092674a3f925636489279523792"
        ) { $0.mask = .circle },
        Golden(
            name: "mask=ellipse", still: "61×44 ddec602f76e9bbc8e7639b37fcce50dc",
            frames: "201c8dc84f4876c8362881c866546ac85e3c6ec88d6757c8754763c8a5734ac8"
        ) { $0.mask = .ellipse },
        Golden(
            name: "mask=triangle", still: "61×44 bbe6d7220f55a27f141829c699bfef77",
            frames: "0809263515111f35120e2b43221b234319111d35261a17352719214337251943"
        ) { $0.mask = .triangle },
        Golden(
            name: "mask=triangle-180", still: "61×44 91d9a64e9364d4e2e436072f75d1d9a0",
            frames: "0b0b2e431a1727430f0c22351b141c351f1524432f211d431f151a352c1d1435"
        ) { $0.mask = .triangleDown },
        Golden(
            name: "mask=pentagon", still: "61×44 5bfd21b6d3d5c8b7ecdd5e4a8da1767f",
            frames: "121250712c2642711e17466c372b3a6c35233e714f3831714029356c593c286c"
        ) { $0.mask = .pentagon },
        Golden(
            name: "mask=pentagon-180", still: "61×44 71f53940f9a59da7601263ea7b9d17e5",
            frames: "11114d6c2a25406c1f184971392d3c7133223c6c4c362f6c422a38715d3f2a71"
        ) { $0.mask = .pentagonDown },
        Golden(
            name: "mask=hexagon", still: "61×44 f2c66a8d7981b44c515a1afc9584e8c0",
            frames: "131356792f294779211a4e793d31407939264279553c3479472d3c7964442d79"
        ) { $0.mask = .hexagon },
        Golden(
            name: "mask=square", still: "61×44 385839f2975ffd240e33a8dab8601e0f",
            frames: "1d1c84bb49426ebb332679bb5f4d63bb573967bb835f51bb6e445cbb9a6a46bb"
        ) { $0.mask = .square },
        Golden(
            name: "mask=star", still: "61×44 47be4864eee56129a61744fa43818278",
            frames: "09092839161321390d0b1e2f1812192f1a121f39281c18391c12172f271a112f"
        ) { $0.mask = .star },
        Golden(
            name: "mask=heart", still: "61×44 0fb703f596c307d6b4d0673db6d62277",
            frames: "1715669039325590110e283d1f18203d432c4f9065493e9024171e3d3322173d"
        ) { $0.mask = .heart },
    ]

    /// A photograph with an alpha gradient, an opaque white border, and four different quarters.
    private static let still = SharedBytes(
        ImageFixture.file(bordered(.photoWithAlpha(PixelSize(width: 61, height: 44))), as: .png))

    /// Frames with different colors in each quarter.
    private static let animation: SharedBytes = {
        let size = PixelSize(width: 60, height: 44)
        let frames = [0, 40, 80].map { shift in
            SampleImage(size, bands: 3) { x, y in
                let light = 40 + shift + (x < 30 ? 0 : 60) + (y < 22 ? 0 : 30)
                return [UInt8(light), UInt8(light / 2 + x), UInt8(200 - light / 2)]
            }
        }
        let image = DecodedImage(
            pixels: SharedBytes(frames.flatMap(\.pixels)), size: size, bands: 3, frames: frames.count,
            delays: [100, 100, 100], loop: 0)
        let plan = RenderPlan(
            decode: DecodePlan(isAnimated: true), resizedSize: size, format: .webp, quality: 100)
        do {
            try ImageLibrary.start()
            return try ImageRenderer.render(image, plan: plan, token: WorkToken()).bytes
        } catch {
            fatalError("no animation: \(error)")
        }
    }()

    private static func bordered(_ image: SampleImage) -> SampleImage {
        let size = image.size
        return SampleImage(size, bands: 4) { x, y in
            guard 3..<size.width - 5 ~= x, 4..<size.height - 2 ~= y else { return [255, 255, 255, 255] }
            let start = 4 * (y * size.width + x)
            return Array(image.pixels[start..<start + 3]) + [UInt8(255 - 2 * x)]
        }
    }

    @Test(arguments: goldens)
    func `a still is unchanged`(golden: Golden) throws {
        let image = try OperationFixture.render(Self.still, change: golden.change)
        var pixels: [UInt8] = []
        for y in 0..<image.size.height {
            for x in 0..<image.size.width {
                let pixel = image.pixel(x: x, y: y)
                let color = pixel.count < 3 ? [pixel[0], pixel[0], pixel[0]] : Array(pixel.prefix(3))
                pixels += color + [image.hasAlpha ? pixel[pixel.count - 1] : 255]
            }
        }
        let text = unsafe "\(image.size) " + SHA256.hash(pixels.span.bytes).hexadecimal.prefix(32)
        #expect(text == golden.still, "\(golden.name) still \(text)")
    }

    @Test(arguments: goldens.filter { $0.name != "trim" })
    func `an animation is unchanged`(golden: Golden) throws {
        var options = RenderingOptions()
        (options.isAnimated, options.quality) = (true, 95)
        let image = try OperationFixture.render(Self.animation, options, as: .webp, change: golden.change)
        #expect(image.frames == 3)
        let means = [0, 2].flatMap { Self.means(of: image, frame: $0) }
        let text = means.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let expected = Self.numbers(golden.frames)
        let isClose = expected.count == means.count && zip(means, expected).allSatisfy { abs($0 - $1) <= 2 }
        #expect(isClose, "\(golden.name) frames \(text)")
    }

    /// The means of each component in four quarters; colors are multiplied by alpha.
    private static func means(of image: DecodedImage, frame: Int) -> [Int] {
        let (width, height) = (image.size.width, image.size.height)
        var sums = [Int](repeating: 0, count: 16)
        var counts = [Int](repeating: 0, count: 4)
        for y in 0..<height {
            for x in 0..<width {
                let pixel = image.values(x, y, frame: frame)
                let alpha = image.hasAlpha ? pixel[3] : 255
                let quarter = (x < width / 2 ? 0 : 1) + (y < height / 2 ? 0 : 2)
                counts[quarter] += 1
                for band in 0..<3 { sums[4 * quarter + band] += pixel[band] * alpha / 255 }
                sums[4 * quarter + 3] += alpha
            }
        }
        return sums.indices.map { sums[$0] / counts[$0 / 4] }
    }

    private static func numbers(_ digits: String) -> [Int] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { Int(String(digits[$0...$0 + 1]), radix: 16) }
    }
}
