import Recipes
import TestSupport
import Testing

@testable import Dialects

/// Sizes and positions as wsrv.nl computes them.
@Suite struct WsrvLayoutTests {
    @Test(arguments: [
        ("w=6", 400, 300, "6×5"), ("w=14", 400, 300, "14×11"), ("w=1000", 641, 427, "1000×666"),
        ("w=50%25", 1_200, 800, "600×400"), ("w=150%25&h=100", 400, 300, "133×100"),
        ("w=0&h=200", 1_200, 800, "300×200"),
        ("w=100&dpr=2", 1_200, 800, "200×133"), ("w=300&dpr=0.5", 1_200, 800, "150×100"),
        ("w=99&dpr=0.5", 100, 100, "50×50"),
        ("w=300&dpr=0", 400, 300, "400×300"), ("w=300&dpr=9", 400, 300, "300×225"), ("dpr=2", 400, 300, "400×300"),
        ("w=500&h=500&fit=inside&we", 400, 300, "400×300"), ("w=500&h=500&fit=outside", 400, 300, "667×500"),
        ("w=300&fit=fill", 1_200, 800, "300×800"), ("h=100&fit=fill", 400, 300, "400×100"),
        ("w=500&h=500&fit=fill", 400, 300, "500×500"), ("w=500&h=100&fit=fill&we", 400, 300, "400×100"),
        ("w=1&h=1&fit=fill", 400, 300, "1×1"), ("w=1", 3, 2_000, "1×667"), ("h=1", 3, 2_000, "1×1"),
        ("w=10000000", 1, 100, "10000000×100000000"), ("w=20000000", 40, 30, "40×30"), ("w=-4&h=9", 40, 30, "12×9"),
    ])
    func `stills are resized with halves rounded up`(query: String, width: Int, height: Int, size: String) throws {
        #expect(try wsrvComposition(query, width, height, .png).size.description == size)
    }

    @Test(arguments: [
        // The decoder divides the sides by 2, 4 or 8, rounded up, before the other side is computed.
        ("w=100", "100×66"), ("w=100&fsol=0", "100×67"), ("h=33", "50×33"), ("w=300", "300×200"), ("w=320", "320×213"),
        ("w=100&trim=10", "100×67"), ("w=100&gam=2", "100×67"), ("w=100&gam=0", "100×66"), ("w=100&precrop", "100×67"),
        ("w=80", "80×53"),
    ])
    func `JPEG images have the sizes of a reduced decode`(query: String, size: String) throws {
        #expect(try wsrvComposition(query, 641, 427, .jpeg).size.description == size)
    }

    @Test func `WebP images are loaded at a size of whole pixels`() throws {
        #expect(try wsrvComposition("w=100", 641, 427, .webp).size.description == "100×67")
        #expect(try wsrvComposition("w=100&h=70&fit=fill", 641, 427, .webp).size.description == "100×70")
    }

    @Test func `frames are rounded half to even`() throws {
        #expect(try wsrvComposition("w=6&n=-1", 400, 300, .gif, frames: 3).size.description == "6×4")
        #expect(try wsrvComposition("w=14&n=-1", 400, 300, .gif, frames: 3).size.description == "14×10")
        #expect(try wsrvComposition("w=6", 400, 300, .gif, frames: 3).size.description == "6×5")
        // Percentages of the height refer to all frames stacked vertically.
        #expect(try wsrvComposition("h=50%25&n=-1", 400, 300, .gif, frames: 2).size.description == "400×300")
    }

    @Test(arguments: [
        ("w=300&h=100&a=center", 0, 62), ("w=300&h=100&a=top", 0, 0), ("w=300&h=100&a=bottom-right", 0, 125),
        ("w=100&h=300&a=right", 300, 0), ("w=100&h=300&a=left", 0, 0), ("w=101&h=300", 149, 0),
        ("w=100&h=300&a=focal&fpx=1", 300, 0), ("w=100&h=300&a=focal-57-0", 178, 0),
        ("w=100&h=300&a=focal&fpx=100", 150, 0), ("w=100&h=300&flop&a=left", 0, 0),
    ])
    func `a cover resize crops at the requested position`(query: String, x: Int, y: Int) throws {
        let draft = try wsrvComposition("fit=cover&" + query, 400, 300, .png)
        let crop = try #require(draft.steps.last as? CropStep)
        #expect((crop.x, crop.y) == (x, y))
    }

    @Test func `attention counts for stills only`() throws {
        #expect(try wsrvComposition("fit=cover&w=9&h=9&a=attention", 40, 30).stepTexts == ["attention 9x9"])
        #expect(try wsrvComposition("fit=cover&w=9&h=9&a=entropy", 40, 30).stepTexts == ["entropy 9x9"])
        let moving = try wsrvComposition("fit=cover&w=9&h=9&a=attention&n=-1", 40, 30, .gif, frames: 3)
        #expect(moving.stepTexts == ["crop 1,0 9x9"])
    }

    @Test func `a box larger than the image is filled as far as possible`() throws {
        let draft = try wsrvComposition("fit=cover&w=1400&h=300&we", 1_200, 800)
        #expect(draft.finalSize.description == "1200×300")
    }

    @Test(arguments: [
        ("cx=150&cy=100&cw=100&ch=80", "crop 150,100 100x80"),
        ("cx=25%25&cy=25%25&cw=50%25&ch=50%25", "crop 100,75 200x150"),
        ("cx=400&cw=100&ch=100", "crop 0,0 100x100"), ("cx=-1&cy=299", "crop 0,299 400x1"),
        ("cw=500&ch=0", "crop 0,0 400x300"), ("crop=300,200,100,50", "crop 100,50 300x200"),
    ])
    func `a rectangle is clipped to the image`(query: String, step: String) throws {
        #expect(try wsrvComposition(query, 400, 300).stepTexts == [step])
    }

    @Test func `a rectangle may precede the resample, in the rotated image`() throws {
        let plain = try wsrvComposition("cx=150&cy=100&cw=100&ch=80&w=50&precrop", 400, 300)
        #expect(plain.region?.x == 150 && plain.region?.y == 100 && plain.region?.size.description == "100×80")
        #expect(plain.size.description == "50×40" && plain.steps.isEmpty)
        // Rotated clockwise, the left edge of the source becomes the top.
        let turned = try wsrvComposition("ro=90&cx=10&cy=20&cw=30&ch=40&precrop", 400, 300)
        #expect(turned.turn == 6 && turned.size.description == "30×40")
        #expect(turned.region?.x == 20 && turned.region?.y == 260 && turned.region?.size.description == "40×30")
    }

    @Test(arguments: [
        ("", 1), ("flop", 2), ("ro=180", 3), ("flip", 4), ("ro=90&flop", 5), ("ro=90", 6), ("ro=90&flip", 7),
        ("ro=-90", 8),
        ("flip&flop", 3), ("ro=180&flip", 2), ("ro=270&flip", 5), ("ro=450", 6), ("ro=45", 1), ("flip=0&flop=false", 1),
        ("ro=270&flop", 7), ("ro=-2147483640", 1),
    ])
    func `rotations precede mirroring`(query: String, turn: QuarterTurn) throws {
        #expect(try wsrvComposition(query, 400, 300).turn == turn)
    }

    @Test func `a quarter turn follows the resize, and a cover resize covers the box after its turn`() throws {
        #expect(try wsrvComposition("ro=90&w=200", 400, 300, .png).size.description == "150×200")
        let cover = try wsrvComposition("ro=90&w=200&h=100&fit=cover", 400, 300, .png)
        #expect(cover.size.description == "200×267" && cover.finalSize.description == "200×100")
        let side = try wsrvComposition("ro=90&w=200&fit=cover", 400, 300, .png)
        #expect(side.size.description == "150×200" && side.finalSize.description == "150×200")
        let contain = try wsrvComposition("ro=90&w=200&h=100&fit=contain", 400, 300, .png)
        #expect(contain.size.description == "100×133" && contain.finalSize.description == "200×100")
    }

    @Test(arguments: [
        ("", "canvas 300x300 0,50 0,0,0,0"), ("&a=top&cbg=red", "canvas 300x300 0,0 255,0,0,255"),
        ("&a=bottom", "canvas 300x300 0,100 0,0,0,0"), ("&a=focal&fpy=0.25", "canvas 300x300 0,25 0,0,0,0"),
    ])
    func `bars are divided by the position`(query: String, step: String) throws {
        #expect(try wsrvComposition("w=300&h=300&fit=contain" + query, 1_200, 800).stepTexts == [step])
    }

    @Test func `the source's orientation does not swap the sides of the box`() throws {
        let header = ImageHeader(format: .png, storedSize: PixelSize(width: 300, height: 400), orientation: 6)
        let recipe = WsrvRecipe(try wsrvOptions("w=200&h=100&fit=cover"))
        let draft = try recipe.draft(of: RecipeSource(header: header))
        #expect(draft.size.description == "200×150" && draft.finalSize.description == "200×100")
    }
}
