import Imaging
import Testing

@testable import ThumbnailAPI

@Suite struct ColorGrammarTests {
    @Test(arguments: [
        ("fff", Color.white), ("FFFFFF", .white), ("white", .white), ("White", .white),
        ("12aBcD", Color(red: 0x12, green: 0xab, blue: 0xcd)),
        ("12abcd80", Color(red: 0x12, green: 0xab, blue: 0xcd, alpha: 0x80)),
        ("1a9", Color(red: 0x11, green: 0xaa, blue: 0x99)),
        ("transparent", .transparent), ("rebeccapurple", Color(red: 0x66, green: 0x33, blue: 0x99)),
        ("lightgoldenrodyellow", Color(red: 0xfa, green: 0xfa, blue: 0xd2)),
    ])
    func `hexadecimal and names are colours`(text: String, color: Color) {
        #expect(ColorGrammar.color(text) == color)
    }

    @Test(arguments: [
        "", "f", "ff", "ffff", "fffff", "fffffff", "ggg", "#fff", "0xfff", "red ", "rgb(1,2,3)", "\u{ff21}aa",
    ])
    func `anything else is none`(text: String) {
        #expect(ColorGrammar.color(text) == nil)
    }

    @Test func `all names of CSS are known`() {
        #expect(CSSColorNames.values.count == 148)
    }
}
