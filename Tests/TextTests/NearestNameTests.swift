import Testing
import Text

struct NearestNameTests {
    private static let names = [
        "w", "h", "q", "fit", "width", "height", "quality", "trimColor", "brightness", "--port",
    ]

    @Test(arguments: [
        ("widht", "width"), ("Width", "width"), ("W", "w"), ("heigth", "height"), ("qualty", "quality"),
        ("trim_color", "trimColor"), ("trimcolor", "trimColor"), ("trimColour", "trimColor"), ("fitt", "fit"),
        ("brigthness", "brightness"), ("--prot", "--port"),
    ])
    func `a typing error leads to the intended name`(text: String, name: String) {
        #expect(NearestName.of(text, among: Self.names) == name)
    }

    @Test(arguments: ["", "b", "size", "url", "w2", "width", "\u{212a}", "heights-and-widths"])
    func `a text without a similar name, or equal to one, has no nearest name`(text: String) {
        #expect(NearestName.of(text, among: Self.names) == nil)
    }

    @Test func `a prefix leads to its only name`() {
        let names = ["thumbnail", "thumbs", "batch", "status"]
        #expect(NearestName.of("bat", among: names) == "batch" && NearestName.of("STA", among: names) == "status")
        #expect(NearestName.of("thu", among: names) == nil && NearestName.of("st", among: names) == nil)
        #expect(NearestName.of("thumb", among: ["thumbnail", "batch"]) == "thumbnail")
    }

    @Test func `the nearer name wins, then the earlier one, and a long text has none`() {
        #expect(NearestName.of("colours", among: ["columns", "colour"]) == "colour")
        #expect(NearestName.of("cats", among: ["cuts", "bats"]) == "cuts")
        let long = String(repeating: "a", count: 64)
        #expect(NearestName.of(long, among: [long + "b"]) == long + "b")
        #expect(NearestName.of(long + "b", among: [long]) == nil)
    }
}
