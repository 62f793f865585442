import Recipes
import Text

/// A watermark's text as a drawing: a tile with the text at a fixed position, and a margin.
///
/// The original's fonts are unknown here, so widths assume a common sans-serif font.
struct ImaginaryText {
    /// The maximum length of a text in bytes.
    static let maximumLength = 1_000
    private static let textOffset = 100
    private static let largest = (font: 500.0, side: 4_096)

    private let lines: [String]
    private let width: Int
    private let size: Double
    private let margin: Int
    private let style: String
    private let color: Color

    init(_ options: ImaginaryOptions) {
        let font = Self.font(options.font.string)
        let resolution = options.resolution > 0 ? options.resolution : 150
        size = max(1, min(font.points * Double(resolution) / 72, Self.largest.font))
        style = font.style
        color = options.color
        let requested = options.textWidth > 0 ? options.textWidth : Self.usualWidth
        lines = Self.lines(Self.plain(options.text.string), atMost: Double(requested) / size)
        let lineWidth = (lines.map(Self.width).max() ?? 0) * size
        width = max(1, min(Int(lineWidth.rounded(.up)), Self.largest.side))
        margin = min(options.margin > 0 ? options.margin : requested, Self.largest.side)
    }

    /// A sixth of an image 1,200 pixels wide, because the actual width is not known yet.
    private static let usualWidth = 200

    var drawing: String {
        let steps = Double(lines.count - 1)
        let height = Int((size * (0.75 + 1.17 * steps)).rounded(.up))
        var text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width + margin)\" height=\"\(height + margin)\">"
        text += "<g \(style)font-size=\"\(size)\" fill=\"rgb(\(color.red),\(color.green),\(color.blue))\">"
        for (index, line) in lines.enumerated() {
            let y = Double(Self.textOffset) + size * (0.73 + 1.17 * Double(index))
            text += "<text x=\"\(Self.textOffset)\" y=\"\(y)\">\(Self.escaped(line))</text>"
        }
        return text + "</g></svg>"
    }

    /// Parses a font such as `sans bold 12`, in points.
    private static func font(_ text: String) -> (style: String, points: Double) {
        var words = text.split(separator: " ").map { String($0).asciiLowercased }
        let points = words.last.flatMap { Double($0) } ?? 10
        if words.last.flatMap({ Double($0) }) != nil { words.removeLast() }
        var style = ""
        if words.contains("bold") { style += "font-weight=\"bold\" " }
        if words.contains("italic") || words.contains("oblique") { style += "font-style=\"italic\" " }
        let family = ["serif", "monospace"].first { words.contains($0) } ?? "sans-serif"
        return ("font-family=\"\(family)\" " + style, points.isFinite ? abs(points) : 10)
    }

    private static func plain(_ text: String) -> String {
        var plain = ""
        var rest = text[...]
        while let start = rest.utf8.firstIndex(of: UInt8(ascii: "<")),
            let end = rest[start...].utf8.firstIndex(of: UInt8(ascii: ">"))
        {
            plain += rest[..<start]
            rest = rest[rest.utf8.index(after: end)...]
        }
        plain += rest
        for (name, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
            plain = plain.split(separator: name, omittingEmptySubsequences: false).joined(separator: character)
        }
        return plain
    }

    private static func lines(_ text: String, atMost maximum: Double) -> [String] {
        var lines: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var current = ""
            for word in line.split(separator: " ") {
                let longer = current.isEmpty ? String(word) : "\(current) \(word)"
                if !current.isEmpty, width(longer) > maximum {
                    lines.append(current)
                    current = String(word)
                } else {
                    current = longer
                }
            }
            lines.append(current)
        }
        return lines
    }

    private static func width(_ text: String) -> Double {
        text.unicodeScalars.reduce(0) { sum, scalar in
            switch scalar {
            case "i", "j", "l", "I", "'", "|", ".", ",", ":", ";", "!", " ": sum + 0.31
            case "f", "r", "t", "(", ")", "[", "]", "-": sum + 0.39
            case "m", "w", "M", "W", "@", "%": sum + 0.9
            case "A"..."Z": sum + 0.69
            default: sum + 0.61
            }
        }
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "<": escaped += "&lt;"
            case "&": escaped += "&amp;"
            case _ where scalar.value < 0x20: escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
