import Recipes
import Testing

struct FormatChoiceTests {
    /// A client's preferences, a source, the allowed formats, and the chosen format.
    struct Row: Sendable, CustomTestStringConvertible {
        let accepted: [ImageFormat: Int]
        var own = ImageFormat.jpeg
        var hasAlpha = false
        var automatic: [ImageFormat] = [.webp]
        var pixels = 30_000
        let expected: ImageFormat

        var testDescription: String {
            "\(own) accepted as \(accepted), \(automatic), \(pixels) pixels → \(expected)"
        }
    }

    @Test(arguments: [
        Row(accepted: [:], expected: .jpeg),
        Row(accepted: [.webp: 1_000], expected: .webp),
        Row(accepted: [.webp: 1_000, .jpeg: 1_000], expected: .webp),
        Row(accepted: [.webp: 1], expected: .webp),
        Row(accepted: [.webp: 0], expected: .jpeg),
        Row(accepted: [.webp: 500, .jpeg: 501], expected: .jpeg),
        Row(accepted: [.webp: 500, .png: 900], expected: .webp),
        Row(accepted: [.webp: 500, .png: 900], own: .png, expected: .png),
        Row(accepted: [.avif: 1_000], expected: .jpeg),
        Row(accepted: [.avif: 1_000, .webp: 1_000], automatic: [.avif, .webp], expected: .avif),
        Row(accepted: [.avif: 1_000, .webp: 1_000], automatic: [.webp, .avif], expected: .avif),
        Row(accepted: [.avif: 1_000, .webp: 1_000], automatic: [.avif, .webp], pixels: 900, expected: .webp),
        Row(accepted: [.avif: 1_000], automatic: [.avif], pixels: 900, expected: .jpeg),
        Row(accepted: [.avif: 1_000], own: .png, automatic: [.avif], pixels: 900, expected: .avif),
        Row(accepted: [.avif: 1_000, .webp: 1_000], automatic: [.avif, .webp], pixels: 4_000_000, expected: .avif),
        Row(accepted: [.webp: 1_000], pixels: 39_999, expected: .webp),
        Row(accepted: [.webp: 1_000], pixels: 40_000, expected: .jpeg),
        Row(accepted: [.webp: 1_000], own: .png, pixels: 4_000_000, expected: .webp),
        Row(accepted: [.webp: 1_000], own: .heic, hasAlpha: true, pixels: 4_000_000, expected: .webp),
        Row(accepted: [.webp: 1_000, .jxl: 1_000], automatic: [.webp, .jxl], pixels: 60_000, expected: .jxl),
        Row(accepted: [.webp: 1_000, .jxl: 1_000], automatic: [.webp, .jxl], pixels: 7_500, expected: .webp),
        Row(accepted: [.gif: 1_000], automatic: [.gif], expected: .gif),
        Row(accepted: [.avif: 200, .webp: 900], automatic: [.avif, .webp], expected: .avif),
        Row(accepted: [.avif: 200, .webp: 900, .jpeg: 300], automatic: [.avif, .webp], expected: .webp),
        Row(accepted: [.webp: 1_000], automatic: [], expected: .jpeg),
        Row(accepted: [.webp: 0], own: .webp, expected: .webp),
        Row(accepted: [:], own: .png, hasAlpha: true, expected: .png),
        Row(accepted: [:], own: .gif, expected: .gif),
        Row(accepted: [:], own: .avif, expected: .avif),
        Row(accepted: [:], own: .heic, expected: .jpeg),
        Row(accepted: [.webp: 500, .jpeg: 501], own: .raw, expected: .jpeg),
        Row(accepted: [:], own: .heic, hasAlpha: true, expected: .png),
        Row(accepted: [.webp: 1_000], own: .heic, expected: .webp),
    ])
    func `negotiation picks the smallest format accepted at least as much as the source's`(row: Row) {
        let format = FormatChoice.negotiated(row.accepted).format(
            from: row.own, hasAlpha: row.hasAlpha, pixels: row.pixels, automatic: row.automatic)
        #expect(format == row.expected)
    }

    @Test(arguments: ImageFormat.allCases)
    func `a format that the client names is used`(format: ImageFormat) {
        for own in ImageFormat.allCases {
            let choice = FormatChoice.fixed(format)
            #expect(choice.format(from: own, hasAlpha: true, pixels: 1, automatic: [.webp]) == format)
        }
    }
}
