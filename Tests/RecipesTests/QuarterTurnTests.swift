import Recipes
import TestSupport
import Testing

struct QuarterTurnTests {
    @Test func `orientations convert to turns and back`() throws {
        for orientation in 1...8 {
            let turn = try #require(QuarterTurn(exif: orientation))
            #expect(turn.exif == orientation && turn.exchangesSides == (orientation >= 5))
            #expect(turn.then(turn.inverse) == .none && turn.inverse.then(turn) == .none)
        }
    }

    @Test func `two turns move a part like their combination`() throws {
        let part = ImageRegion(x: 1, y: 2, size: PixelSize(width: 3, height: 4), of: PixelSize(width: 20, height: 10))
        for first in 1...8 {
            for second in 1...8 {
                let (one, two) = (
                    try #require(QuarterTurn(exif: first)), try #require(QuarterTurn(exif: second))
                )
                #expect(two.turned(one.turned(part)) == one.then(two).turned(part), "\(first) \(second)")
            }
        }
    }

    @Test func `a turn to the right brings the left side up`() {
        let part = ImageRegion(x: 1, y: 2, size: PixelSize(width: 3, height: 4), of: PixelSize(width: 20, height: 10))
        #expect(
            QuarterTurn(quarters: 1).turned(part)
                == ImageRegion(x: 4, y: 1, size: PixelSize(width: 4, height: 3), of: PixelSize(width: 10, height: 20)))
        #expect(
            QuarterTurn.mirrorY.turned(part)
                == ImageRegion(x: 1, y: 4, size: PixelSize(width: 3, height: 4), of: PixelSize(width: 20, height: 10)))
    }
}
