import Imaging
import Testing

struct ColorTests {
    @Test(arguments: [
        ("f80", Color(red: 255, green: 136, blue: 0)),
        ("FF8000", Color(red: 255, green: 128, blue: 0)),
        ("ff800040", Color(red: 255, green: 128, blue: 0, alpha: 64)),
        ("00000000", Color.transparent),
        ("white", Color.white),
        ("RebeccaPurple", Color(red: 0x66, green: 0x33, blue: 0x99)),
        ("lightgoldenrodyellow", Color(red: 250, green: 250, blue: 210)),
        ("transparent", Color.transparent),
    ])
    func `hexadecimal digits and names are colours`(text: String, color: Color) {
        #expect(Color(parsing: text) == color)
    }

    @Test(arguments: [
        "", "f", "ff", "ffff", "fffff", "fffffff", "fffffffff", "#fff", "ggg", "0x1", "+ff", " fff", "fff ", "whit",
        "rgb(0,0,0)", "blac\u{212A}", "\u{FF11}11",
    ])
    func `anything else is none`(text: String) {
        #expect(Color(parsing: text) == nil)
    }

    @Test(arguments: [
        ("gray", "grey"), ("darkgray", "darkgrey"), ("dimgray", "dimgrey"), ("lightslategray", "lightslategrey"),
        ("aqua", "cyan"), ("fuchsia", "magenta"),
    ])
    func `names in two spellings are one colour`(one: String, other: String) {
        #expect(Color(parsing: one) != nil)
        #expect(Color(parsing: one) == Color(parsing: other))
    }

    @Test func `a colour over another is opaque and mixed by its alpha`() {
        let red = Color(red: 255, green: 0, blue: 0, alpha: 128)
        #expect(red.composited(over: .white) == Color(red: 255, green: 127, blue: 127))
        #expect(Color.transparent.composited(over: .white) == .white)
        #expect(Color(red: 1, green: 2, blue: 3).composited(over: .white) == Color(red: 1, green: 2, blue: 3))
    }
}
