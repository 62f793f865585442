import Testing
import Text

struct ExactTextTests {
    /// Texts that Swift's `String` considers equal.
    static let lookAlikes = [
        ("K", "\u{212a}"), (";", "\u{37e}"), ("`", "\u{1fef}"), ("\u{e9}", "e\u{301}"), ("\u{c5}", "\u{212b}"),
        ("\u{1e69}", "s\u{323}\u{307}"), ("a\u{323}\u{307}", "a\u{307}\u{323}"),
    ]

    @Test(arguments: lookAlikes)
    func `texts are equal when their bytes are`(left: String, right: String) {
        #expect(left == right, "equal as Swift compares strings, or this proves nothing")
        #expect(ExactText(left) != ExactText(right))
        #expect(Set([ExactText(left), ExactText(right), ExactText(left)]).count == 2)
        #expect([ExactText(left): 1][ExactText(right)] == nil)
        #expect((ExactText(left) < ExactText(right)) != (ExactText(right) < ExactText(left)))
        #expect(!left.isExactly(right) && left.isExactly(left))
    }

    @Test func `equal texts are equal regardless of their origin`() {
        let text = "caf\u{e9}/" + String(repeating: "a", count: 40)
        let cut = ("x" + text).dropFirst()
        #expect(ExactText(text) == ExactText(cut))
        #expect(ExactText(text).hashValue == ExactText(cut).hashValue)
        #expect(ExactText("") == ExactText(text.prefix(0)))
        #expect(ExactText("a") < "b" && ExactText("a") < "aa" && !(ExactText("b") < "aa"))
    }
}
