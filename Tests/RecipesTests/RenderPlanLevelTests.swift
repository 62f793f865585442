import Recipes
import TestSupport
import Testing

struct RenderPlanLevelTests {
    @Test(arguments: [
        (4_800, 300, 8), (4_799, 300, 4), (2_400, 300, 4), (2_399, 300, 2), (1_200, 300, 2), (1_199, 300, 1),
        (300, 300, 1), (100, 300, 1),
    ])
    func `the reduction leaves at least twice the target`(width: Int, target: Int, level: Int) throws {
        #expect(try plan(width, width / 2, options(target, nil)).decode.level == level)
        #expect(try plan(width / 2, width, options(nil, target)).decode.level == level)
    }

    @Test func `the side that meets the box decides`() throws {
        #expect(try plan(4_800, 1_000, options(300, 300)).decode.level == 8)
        #expect(try plan(4_800, 1_000, options(300, 300, .contain)).decode.level == 8)
        #expect(try plan(4_800, 1_000, options(300, 300, .outside)).decode.level == 1)
        #expect(try plan(4_800, 1_200, options(300, 300, .outside)).decode.level == 2)
    }

    @Test func `for a crop the image before it decides, on both sides`() throws {
        #expect(try plan(4_800, 1_200, options(300, 300, .cover)).decode.level == 2)
        #expect(try plan(4_800, 3_600, options(100, 100, .cover)).decode.level == 8)
        #expect(try plan(4_800, 1_199, options(300, 300, .cover)).decode.level == 1)
    }

    @Test func `for a distorted image both sides count`() throws {
        #expect(try plan(4_800, 4_800, options(300, 300, .fill)).decode.level == 8)
        #expect(try plan(4_800, 4_800, options(300, 1_200, .fill)).decode.level == 2)
    }

    @Test func `a rotated image has the level of the upright one`() throws {
        let source = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 1_200, height: 4_800), orientation: 8)
        let turned = try RenderPlan(options: options(600, nil), format: .jpeg, source: source, limits: ImagingLimits())
        #expect(turned.decode.level == 4)
    }

    @Test func `widths of one level share a decode`() throws {
        let widths = stride(from: 301, through: 600, by: 1)
        let plans = try widths.map { try plan(4_800, 3_600, options($0, nil)).decode }
        #expect(Set(plans) == [DecodePlan(level: 4)])
    }
}
