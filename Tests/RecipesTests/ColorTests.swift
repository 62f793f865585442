import Recipes
import Testing

struct ColorTests {
    @Test func `a color over another is opaque and mixed by its alpha`() {
        let red = Color(red: 255, green: 0, blue: 0, alpha: 128)
        #expect(red.composited(over: .white) == Color(red: 255, green: 127, blue: 127))
        #expect(Color.transparent.composited(over: .white) == .white)
        #expect(Color(red: 1, green: 2, blue: 3).composited(over: .white) == Color(red: 1, green: 2, blue: 3))
    }
}
