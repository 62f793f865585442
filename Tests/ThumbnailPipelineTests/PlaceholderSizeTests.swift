import Recipes
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

struct PlaceholderSizeTests {
    @Test(
        arguments: [
            (nil, nil, 1_000, PixelSize(width: 1, height: 1)),
            (nil, nil, 8_000, PixelSize(width: 1, height: 1)),
            (300, nil, 1_000, PixelSize(width: 300, height: 300)),
            (nil, 200, 1_000, PixelSize(width: 200, height: 200)),
            (300, 200, 1_000, PixelSize(width: 300, height: 200)),
            (300, 200, 2_000, PixelSize(width: 600, height: 400)),
            (3, 5, 1_500, PixelSize(width: 5, height: 8)),
            (101, nil, 1_333, PixelSize(width: 135, height: 135)),
            (1, 1, 500, PixelSize(width: 1, height: 1)),
            (16_384, 1, 8_000, PixelSize(width: 131_072, height: 8)),
        ] as [(Int?, Int?, Int, PixelSize)])
    func `the box in pixels, a missing side equal to the other`(
        width: Int?, height: Int?, devicePixelRatio: Int, size: PixelSize
    ) {
        var options = RenderingOptions()
        options.width = width
        options.height = height
        options.devicePixelRatio = devicePixelRatio
        #expect(Placeholder(.white, in: options).size == size)
    }
}
