import Recipes
import Testing

@testable import Dialects

@Suite struct ColorGrammarTests {
    @Test(arguments: [
        ("fff", Color.white), ("FFFFFF", .white), ("white", .white), ("White", .white),
        ("12aBcD", Color(red: 0x12, green: 0xab, blue: 0xcd)),
        ("12abcd80", Color(red: 0x12, green: 0xab, blue: 0xcd, alpha: 0x80)),
        ("1a9", Color(red: 0x11, green: 0xaa, blue: 0x99)),
        ("transparent", .transparent), ("rebeccapurple", Color(red: 0x66, green: 0x33, blue: 0x99)),
        ("lightgoldenrodyellow", Color(red: 0xfa, green: 0xfa, blue: 0xd2)),
    ])
    func `hexadecimal texts and names are colors`(text: String, color: Color) {
        #expect(ColorGrammar.color(text) == color)
    }

    @Test(arguments: [
        "", "f", "ff", "ffff", "fffff", "fffffff", "ggg", "#fff", "0xfff", "red ", "rgb(1,2,3)", "\u{ff21}aa",
        "blac\u{212a}", "fffffffff", "+ff", " fff",
    ])
    func `other texts are rejected`(text: String) {
        #expect(ColorGrammar.color(text) == nil)
    }

    @Test(arguments: [
        ("#fff", Color.white), ("#12aBcD", Color(red: 0x12, green: 0xab, blue: 0xcd)),
        ("#12abcd80", Color(red: 0x12, green: 0xab, blue: 0xcd, alpha: 0x80)),
        ("rgb(255, 0,0)", Color(red: 255, green: 0, blue: 0)),
        ("rgba(0 0 255 / 0.5)", Color(red: 0, green: 0, blue: 255, alpha: 128)),
        ("White", .white),
    ])
    func `Alula's own grammar accepts some of CSS's spellings`(text: String, color: Color) {
        #expect(ColorGrammar.nativeColor(text) == color)
        #expect(ColorGrammar.cssColor(text) == color)
    }

    @Test(arguments: [
        "#", "#ff", "#red", "##fff", "#1234", "hsl(0,0%,0%)", "rgb(1,2)", "rgb", "rgb()", "#+ff", "# fff",
    ])
    func `other spellings are rejected`(text: String) {
        #expect(ColorGrammar.nativeColor(text) == nil)
    }

    @Test func `a number sign is valid only before digits`() {
        #expect(ColorGrammar.cssColor("#red") == nil && ColorGrammar.cssColor("#12345") == nil)
        #expect(ColorGrammar.cssColor("#1234") == Color(red: 0x11, green: 0x22, blue: 0x33, alpha: 0x44))
    }

    @Test(arguments: [
        ("gray", "grey"), ("darkgray", "darkgrey"), ("dimgray", "dimgrey"), ("lightslategray", "lightslategrey"),
        ("aqua", "cyan"), ("fuchsia", "magenta"),
    ])
    func `names in two spellings are the same color`(one: String, other: String) {
        #expect(ColorGrammar.color(one) != nil)
        #expect(ColorGrammar.color(one) == ColorGrammar.color(other))
    }

    @Test func `all names of CSS are known`() {
        #expect(ColorNames.values.count == 148)
    }
}
