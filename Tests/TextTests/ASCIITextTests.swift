import Testing
import Text

struct ASCIITextTests {
    @Test func `a text is truncated at bytes, even inside a character`() {
        let text = "a/\u{301}b/c"
        #expect(text.prefix(before: UInt8(ascii: "/")) == "a")
        #expect(text.suffix(after: UInt8(ascii: "/"))?.utf8.elementsEqual("\u{301}b/c".utf8) == true)
        #expect("a\u{37e}b".prefix(before: UInt8(ascii: ";")).utf8.count == 4)
        #expect("abc".prefix(before: UInt8(ascii: "?"), UInt8(ascii: "#")) == "abc")
        #expect("ab?c#d".prefix(before: UInt8(ascii: "#"), UInt8(ascii: "?")) == "ab")
        #expect("abc".suffix(after: UInt8(ascii: "/")) == nil)
        #expect("a/".suffix(after: UInt8(ascii: "/"))?.isEmpty == true)
    }

    @Test func `a prefix is compared by its bytes`() {
        #expect("W/\u{301}x".suffix(after: "W/") != nil)
        #expect("\u{212a}ey".suffix(after: "K") == nil)
        #expect("Key".suffix(after: "K") == "ey")
        #expect("K".suffix(after: "Key") == nil)
    }

    @Test func `only the letters A to Z have a lower case`() {
        #expect("Image/PNG".asciiLowercased == "image/png")
        #expect("\u{212a}\u{c4}".asciiLowercased.utf8.elementsEqual("\u{212a}\u{c4}".utf8))
        #expect("\u{212a}".lowercased() == "k", "or this proves nothing")
    }
}
