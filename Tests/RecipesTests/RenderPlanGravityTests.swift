import Recipes
import TestSupport
import Testing

struct RenderPlanGravityTests {
    static let cuts: [(Gravity, Int)] = [
        (.topLeft, 0), (.left, 0), (.bottomLeft, 0), (.top, 50), (.center, 50), (.bottom, 50), (.topRight, 101),
        (.right, 101), (.bottomRight, 101), (.focal(x: 0, y: 0), 0), (.focal(x: 250, y: 0), 0),
        (.focal(x: 400, y: 0), 20), (.focal(x: 500, y: 0), 50), (.focal(x: 1_000, y: 0), 101),
    ]

    @Test(arguments: cuts)
    func `gravity decides which part of the width is cropped`(gravity: Gravity, x: Int) throws {
        let plan = try plan(301, 200, options(200, 200, .cover) { $0.gravity = gravity })
        #expect(plan.crop == CropStep(x: x, y: 0, size: PixelSize(width: 200, height: 200)))
    }

    @Test(arguments: [
        (Gravity.topLeft, 0), (.top, 0), (.right, 50), (.center, 50), (.bottom, 101), (.bottomRight, 101),
        (.focal(x: 0, y: 400), 20),
    ])
    func `gravity decides which part of the height is cropped`(gravity: Gravity, y: Int) throws {
        let plan = try plan(200, 301, options(200, 200, .cover) { $0.gravity = gravity })
        #expect(plan.crop == CropStep(x: 0, y: y, size: PixelSize(width: 200, height: 200)))
    }

    @Test func `attention and entropy set only the size of the crop`() throws {
        let size = PixelSize(width: 100, height: 100)
        let attention = try plan(400, 300, options(100, 100, .cover) { $0.gravity = .attention })
        #expect(attention.interest == InterestStep(.attention, size: size))
        let entropy = try plan(400, 300, options(100, 100, .cover) { $0.gravity = .entropy })
        #expect(entropy.interest == InterestStep(.entropy, size: size))
        #expect(entropy.outputSize == size)
    }

    @Test(arguments: [
        (Gravity.center, 37), (.attention, 37), (.top, 0), (.topLeft, 0), (.bottom, 75), (.left, 37),
        (.focal(x: 0, y: 200), 15),
    ])
    func `gravity places the image on its canvas`(gravity: Gravity, y: Int) throws {
        let plan = try plan(400, 300, options(300, 300, .contain) { $0.gravity = gravity })
        let size = PixelSize(width: 300, height: 300)
        #expect(plan.canvas == CanvasStep(size: size, x: 0, y: y, color: .white))
    }
}
