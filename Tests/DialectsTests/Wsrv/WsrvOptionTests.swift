import Recipes
import Testing

@testable import Dialects

@Suite struct WsrvOptionTests {
    @Test(arguments: [
        ("200", 200), ("200px", 200), ("1e3", 1), ("+5", 5), ("-5", -5), ("", -1), ("abc", -1), ("50%2", 50),
        ("%2D5", -1),
        ("10000000", 10_000_000), ("10000001", -1), ("2147483648", -1), ("-2147483647", -2_147_483_647),
        ("-2147483649", -1), ("007", 7), (" 5", -1),
    ])
    func `whole numbers end at the first odd character`(text: String, number: Int) {
        #expect(WsrvNumbers.integer(Array(text.utf8)[...]) == number)
    }

    @Test(arguments: [
        ("1.5", 1.5), ("1e3", 1_000), ("1e", 1), ("1e+2x", 100), (".5", 0.5), ("5.", 5), ("-0.25", -0.25), ("0", 0),
        ("0e9", 0), ("1e-60", -1), ("1e60", -1), ("nan", -1), ("inf", -1), ("", -1), (".", -1), ("2%2C5", 2),
        ("10000001", -1),
    ])
    func `fractions may have exponents`(text: String, number: Float) {
        #expect(WsrvNumbers.fraction(Array(text.utf8)[...]) == number)
    }

    @Test func `lengths are pixels or percent`() {
        func length(_ text: String) -> WsrvLength { WsrvNumbers.length(Array(text.utf8)[...]) }
        #expect(
            length("50%25") == .share(0.5) && length("50%") == .share(0.5) && length("33.3%25").pixels(of: 1_000) == 333
        )
        #expect(length("12.5%25").pixels(of: 4) == 1 && length("100%25").pixels(of: 7) == 7)
        for text in ["101%25", "-1%25", "%25", "abc", "", "%"] {
            #expect(length(text).pixels(of: 100) == -1, "\(text)")
        }
        #expect(length("50%2").pixels(of: 10) == 50)
    }

    @Test(arguments: [
        ("red", 0xffff_0000), ("RED", 0xffff_0000), ("rebeccapurple", 0xff66_3399), ("%23f00", 0xffff_0000),
        ("f00", 0xffff_0000), ("8f00", 0x88ff_0000), ("ff0000", 0xffff_0000), ("80ff0000", 0x80ff_0000),
        ("ff000080", 0xff00_0080), ("8ff0000", 0xf8ff_0000), ("ABCDEF", 0xffab_cdef), ("darkgray", 0xffa9_a9a9),
    ])
    func `colors have names or hexadecimal digits, alpha first`(text: String, argb: Int) {
        let color = Color(
            red: UInt8(argb >> 16 & 255), green: UInt8(argb >> 8 & 255), blue: UInt8(argb & 255),
            alpha: UInt8(argb >> 24))
        #expect(WsrvNumbers.color(Array(text.utf8)[...]) == color)
    }

    @Test(arguments: [
        "", "ff", "fffff", "fffffffff", "grey", "darkgrey", "lightslategrey", "rgb(255,0,0)", "#f00", "%2523f00", "-1",
        "0f00",
        "red ", "transparent",
    ])
    func `other colors are transparent`(text: String) {
        #expect(WsrvNumbers.color(Array(text.utf8)[...]).alpha == 0)
    }

    @Test func `the first of a name counts, also under another name, even if invalid`() throws {
        #expect(try wsrvOptions("w=100&w=200").width == .pixels(100))
        #expect(try wsrvOptions("w=abc&w=200").width == .pixels(-1))
        #expect(try wsrvOptions("width=100&w=200").width == .pixels(100))
        #expect(try wsrvOptions("t=square&fit=inside").fit == .cover)
        #expect(try wsrvOptions("t=1700000000&fit=cover").fit == .inside)
        #expect(try wsrvOptions("fit=cover&t=1700000000").fit == .cover)
        #expect(try wsrvOptions("shape=circle&mask=star").mask == .some(.circle))
        #expect(try wsrvOptions("mask=diamond&shape=star").effectiveMask == nil)
        #expect(try wsrvOptions("crop=1,2,3,4&cx=9").cropX == .pixels(3))
        #expect(try wsrvOptions("cx=9&crop=1,2,3,4").cropX == .pixels(9))
    }

    @Test func `names have old spellings and a case`() throws {
        let options = try wsrvOptions(
            "height=3&or=90&shape=heart&strim&align=left&quality=30&lossless&pages=2&level=3&W=8&URL=x")
        #expect(options.height == .pixels(3) && options.rotation == 90 && options.effectiveMask == .heart)
        #expect(options.isMaskTrimmed == true && options.position == .left && options.quality == 30)
        #expect(options.isLossless == true && options.pages == 2 && options.width == nil)
    }

    @Test func `flags are true unless they have a false value`() throws {
        for value in ["", "=", "=1", "=true", "=no", "=FALSE", "=-1"] {
            #expect(try wsrvOptions("we" + value).isNeverEnlarged == true, "\(value)")
        }
        for value in ["=0", "=false"] { #expect(try wsrvOptions("we" + value).isNeverEnlarged == false, "\(value)") }
    }

    @Test(arguments: [
        ("fit", Fit.inside), ("fitup", .inside), ("square", .cover), ("squaredown", .cover), ("crop", .cover),
        ("crop-top", .cover), ("absolute", .fill), ("letterbox", .contain), ("contain", .contain), ("cover", .cover),
        ("fill", .fill), ("outside", .outside), ("inside", .inside), ("COVER", .inside), ("", .inside),
        ("min", .inside),
    ])
    func `fits have old names`(name: String, fit: Fit) throws {
        #expect(try wsrvOptions("t=" + name).fit == fit)
        let keepsSize = ["fit", "squaredown"].contains(name)
        #expect(try wsrvOptions("fit=" + name).isNeverEnlarged == (keepsSize ? true : nil))
        #expect(try wsrvOptions("we=0&fit=" + name).isNeverEnlarged == false)
    }

    @Test func `positions have old names, which may include a point`() throws {
        for (name, position) in [("t", WsrvOptions.Position.top), ("l", .left), ("r", .right), ("b", .bottom)] {
            #expect(try wsrvOptions("a=" + name).position == position)
        }
        #expect(try wsrvOptions("a=bottom-left").position == .bottomLeft)
        #expect(try wsrvOptions("a=centre").position == .center)
        let point = try wsrvOptions("a=focal-57-0&fpx=0.1").focalPoint
        #expect(point.x == 0.57 && point.y == 0)
        let old = try wsrvOptions("a=crop-101-20")
        #expect(old.position == .focal && old.focalPoint == (0.5, 0.2))
        #expect(try wsrvOptions("a=focal&fpx=1.1&fpy=-0.1").focalPoint == (0.5, 0.5))
        #expect(try wsrvOptions("fpx=0.3&a=focal-57").focalPoint == (0.3, 0.5))
    }

    @Test func `lists have several options`() throws {
        let sharp = try wsrvOptions("sharp=1,2,3")
        #expect(sharp.flatSharpness == 1 && sharp.jaggedSharpness == 2 && sharp.sharpness == 3)
        #expect(try wsrvOptions("sharp=5").sharpness == 5)
        #expect(try wsrvOptions("sharp=1,2").sharpness == nil && wsrvOptions("sharp=").sharpness == nil)
        #expect(try wsrvOptions("sharp").sharpness == -1)
        let modulation = try wsrvOptions("mod=1.5,,2,90.9")
        #expect(modulation.lightness == 1.5 && modulation.chroma == 2 && modulation.hue == 90)
        #expect(try wsrvOptions("sat=3&mod=1,2").chroma == 3)
        #expect(try wsrvOptions("delay=10,x,30").delays == [10, -1, 30])
        #expect(try wsrvOptions("crop=1,2,3").cropX == nil)
    }

    @Test(arguments: [
        ("jpg", WsrvOptions.Output.format(.jpeg)), ("png", .format(.png)), ("webp", .format(.webp)),
        ("gif", .format(.gif)), ("avif", .format(.avif)), ("av1", .format(.avif)), ("json", .facts), ("jpeg", .source),
        ("jxl", .source), ("JPG", .source), ("origin", .source), ("", .source),
    ])
    func `formats have one spelling each`(name: String, output: WsrvOptions.Output) throws {
        #expect(try wsrvOptions("output=" + name).output == output)
    }
}
