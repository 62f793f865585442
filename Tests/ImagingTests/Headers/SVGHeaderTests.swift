import Recipes
import TestSupport
import Testing

struct SVGHeaderTests {
    private func file(_ attributes: String, before: String = "") -> [UInt8] {
        Array("\(before)<svg \(attributes) xmlns='http://www.w3.org/2000/svg'/>".utf8)
    }

    @Test(arguments: [
        ("width='100' height='50'", 100.0, 50.0), ("width='100px' height=\"50PX\"", 100, 50),
        ("width = ' 1in ' height='2.54cm'", 96, 96), ("width='25.4mm' height='72pt'", 96, 96),
        ("width='6pc' height='101.6q'", 96, 96), ("width='2em' height='2ex'", 32, 16),
        ("width='1e2' height='.5e+2'", 100, 50), ("width='1em' height='1e1'", 16, 10),
        ("viewBox='0 0 20 10'", 20, 10), ("viewBox='-5,-5 , 1.5 1'", 1.5, 1),
        ("width='100' viewBox='0 0 20 10'", 100, 50), ("height='100' viewBox='0 0 20 10'", 200, 100),
        ("width='100%' height='100%' viewBox='0 0 20 10'", 20, 10),
        ("width='100' height='30' viewBox='0 0 1 1'", 100, 30),
        ("", 300, 150), ("width='80'", 80, 150), ("height='80'", 300, 80), ("width='auto' height='1furlong'", 300, 150),
        ("viewBox='0 0 0 10'", 300, 150), ("viewBox='1 2 3'", 300, 150), ("width='&#49;0' height='20'", 300, 20),
        ("xwidth='9' width='30' height='20' width='40'", 30, 20),
    ])
    func `the size is in CSS pixels`(attributes: String, width: Double, height: Double) throws {
        let header = try inspect(file(attributes))
        #expect(header.format == .svg && header.hasAlpha && header.bands == 4 && header.frames == 1)
        #expect(
            header.vectorSize
                == PixelSize(width: Int((width * 1_000).rounded()), height: Int((height * 1_000).rounded())))
        #expect(header.size == PixelSize(width: Int(width.rounded()), height: Int(height.rounded())))
    }

    @Test(arguments: [
        "<?xml version='1.0' encoding='UTF-8'?>", "\u{FEFF}", "\n\t ", "<!-- <html> -->", "<!-- a --><?b c?><!-- d -->",
        "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' \"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\">",
        "<!DOCTYPE svg [ <!ENTITY a \"]>\"> <!-- ]> --> ]>",
    ])
    func `a vector image is recognized by its first element`(before: String) throws {
        #expect(try inspect(file("width='9' height='9'", before: before)).format == .svg)
    }

    @Test func `a prefix does not matter`() throws {
        let text = "<a:svg xmlns:a='http://www.w3.org/2000/svg' width='9' height='8'></a:svg>"
        #expect(try inspect(Array(text.utf8)).size == PixelSize(width: 9, height: 8))
    }

    @Test(arguments: [
        "<html><svg width='9' height='9'/></html>", "<!DOCTYPE html><html/>", "text <svg/>", "<svgx/>", "< svg/>",
        "<!-- <svg/>",
        "<!DOCTYPE svg [ <svg/>", "<?xml <svg/>", "<![CDATA[<svg/>]]>", "", "<", "<!", "\u{1F}\u{8B}<svg/>",
    ])
    func `other text is not an image`(text: String) {
        #expect(throws: ImagingError.notAnImage) { try inspect(Array(text.utf8)) }
    }

    @Test func `UTF-16 is not read`() {
        let text = "<svg width='9' height='9'/>"
        #expect(throws: ImagingError.notAnImage) { try inspect([0xFF, 0xFE] + text.utf8.flatMap { [$0, 0] }) }
        #expect(throws: ImagingError.notAnImage) { try inspect([0xFE, 0xFF] + text.utf8.flatMap { [0, $0] }) }
    }

    @Test(arguments: [
        "width='0' height='5'", "width='5' height='-5'", "width='1e8' height='5'", "a", "a=", "a=b", "a='",
    ])
    func `a size of zero and a tag without an end are damage`(attributes: String) {
        #expect(isDamaged(file(attributes)))
    }

    @Test func `a long text before the first element is not read to its end`() {
        let comment = "<!--" + String(repeating: "a", count: 1 << 17) + "-->"
        #expect(throws: ImagingError.notAnImage) { try inspect(file("", before: comment)) }
        let attribute = "a='" + String(repeating: "a", count: 1 << 17) + "'"
        #expect(isDamaged(file(attribute)))
    }

    @Test func `a truncated or corrupted file is harmless`() {
        let bytes = file(
            "width='10.5mm' height='20' viewBox='0 0 1 1'", before: "<?xml?><!-- a --><!DOCTYPE svg [<!ENTITY a 'b'>]>")
        for index in bytes.indices {
            _ = try? inspect(Array(bytes.prefix(index)))
            for byte in [0, 0x22, 0x27, 0x3C, 0x3E, 0x80, 0xFF] as [UInt8] {
                var changed = bytes
                changed[index] = byte
                _ = try? inspect(changed)
            }
        }
    }
}
