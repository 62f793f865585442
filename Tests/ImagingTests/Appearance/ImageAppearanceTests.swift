import Crypto
import Testing

@testable import Imaging
@testable import Recipes

/// Palettes, and hashes compared with `blurhash-python` and `thumbhash-python`.
struct ImageAppearanceTests {
    private static func image(alpha: (_ x: Int) -> UInt8 = { _ in 255 }) -> SmallImage {
        var pixels: [UInt8] = []
        for y in 0..<24 {
            for x in 0..<32 { pixels += [UInt8(x * 8 % 256), UInt8(y * 10 % 256), UInt8(x * y % 256), alpha(x)] }
        }
        return SmallImage(width: 32, height: 24, pixels: pixels)
    }

    private static func plain(_ colors: [([UInt8], Int)]) -> SmallImage {
        let pixels = colors.flatMap { color, count in (0..<count).flatMap { _ in color } }
        return SmallImage(width: pixels.count / 4, height: 1, pixels: pixels)
    }

    @Test(
        arguments: [
            (4, 3, "LxH27h2lwtX3mAWUjwfAgFfmfTfi"), (1, 1, "00H27h"),
            (3, 7, "uxH27h2lwtmAWUjwgFfmfTn$Wsjse-fTfNofWojre?fNfT"),
        ])
    func `a BlurHash matches the reference`(columns: Int, rows: Int, text: String) {
        #expect(BlurHash.text(of: Self.image(), columns: columns, rows: rows) == text)
    }

    @Test func `transparent parts are white in a BlurHash`() {
        let clear = Self.plain([([9, 9, 9, 0], 8)])
        let white = Self.plain([([255, 255, 255, 255], 8)])
        #expect(BlurHash.text(of: clear, columns: 4, rows: 3) == BlurHash.text(of: white, columns: 4, rows: 3))
        #expect(BlurHash.text(of: white, columns: 1, rows: 1) == "00TSUA")
    }

    @Test func `a ThumbHash matches the reference, with and without alpha`() {
        #expect(Base64.encode(ThumbHash.bytes(of: Self.image())) == "2xgOHZpgdodwiIiGiGeIh/OkD/eI")
        let partly = Self.image { $0 < 20 ? 255 : 100 }
        #expect(Base64.encode(ThumbHash.bytes(of: partly)) == "meiJFJI8QXZQiYZoWG75UZ/4ZXp4h4eHCA==")
    }

    @Test func `shares are of the visible pixels, the largest first`() {
        let red: [UInt8] = [200, 30, 40, 255]
        let blue: [UInt8] = [20, 40, 220, 200]
        let palette = ColorClusters.palette(of: Self.plain([(blue, 25), (red, 75), ([0, 255, 0, 0], 300)]))
        #expect(palette.map(\.share) == [7_500, 2_500])
        #expect(palette.map(\.color) == [Color(red: 200, green: 30, blue: 40), Color(red: 20, green: 40, blue: 220)])
    }

    @Test func `shares sum to one, and there are at most six colors`() {
        let palette = ColorClusters.palette(of: Self.image())
        #expect(1...6 ~= palette.count && palette.reduce(0) { $0 + $1.share } == 10_000)
        #expect(palette.map(\.share) == palette.map(\.share).sorted(by: >))
        let thirds = ColorClusters.palette(
            of: Self.plain([([0, 0, 0, 255], 1), ([255, 255, 255, 255], 1), ([255, 0, 0, 255], 1)]))
        #expect(thirds.map(\.share).sorted() == [3_333, 3_333, 3_334])
    }

    @Test func `nearly equal colors are merged, and an invisible image has none`() {
        let close = ColorClusters.palette(of: Self.plain([([100, 100, 100, 255], 50), ([104, 100, 100, 255], 50)]))
        #expect(close.count == 1 && close[0].share == 10_000)
        #expect(ColorClusters.palette(of: Self.plain([([1, 2, 3, 100], 9)])).isEmpty)
    }
}
