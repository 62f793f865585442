import CSVGShim
import Coordination
import Memory
import Recipes
import Synchronization

enum SVGPixels {
    static let fontCount = Int(CSVGShim_prepare())

    /// True if oversized text has made a font unusable for the rest of the process.
    static var isFontLost: Bool { hasLostFont.load(ordering: .relaxed) }

    private static let hasLostFont = Atomic(false)

    static func draw(
        _ file: SharedBytes, header: ImageHeader, region: DrawnRegion? = nil, token: WorkToken,
        embedding: SVGRewriter.Embedding
    ) throws -> DecodedPixels {
        guard fontCount >= 0 else { throw ImagingError.cannotDecode(detail: "librsvg cannot be loaded") }
        let size = header.storedSize
        let natural = header.vectorSize ?? PixelSize(width: 1, height: 1)
        let width = Double(natural.width) / 1_000
        let height = Double(natural.height) / 1_000
        let rectangle = region?.rectangle(size, in: width, height)
        let memory = try PlaneMemory(count: size.area * 4)
        let drawing = CSVGShimDrawing(
            width: rectangle?.width ?? width, height: rectangle?.height ?? height,
            pixel_width: CInt(size.width), pixel_height: CInt(size.height))
        let drawn = try SVGText(
            file, showing: rectangle, of: (width, height),
            enlargedBy: Double(size.width) / (rectangle?.width ?? width), embedding: embedding)
        let fault = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CSVGShim_text_size)) {
            text -> String? in
            let status = unsafe drawn.withPieces { pieces in
                unsafe CSVGShim_draw(
                    pieces.baseAddress, pieces.count, drawing,
                    memory.bytes.assumingMemoryBound(to: UInt8.self).baseAddress, text.baseAddress)
            }
            if status == -2 { hasLostFont.store(true, ordering: .relaxed) }
            return unsafe status == 0 ? nil : text.baseAddress.map { unsafe String(cString: $0) } ?? ""
        }
        try token.check()
        if let fault {
            throw ImagingError.cannotDecode(detail: fault)
        }
        return DecodedPixels(pixels: memory.finish(), size: size, bands: 4)
    }
}

/// The SVG text without external references, in wrapper elements that show a part of it.
///
/// librsvg allocates memory for groups and filters by the size of the outermost element. If that is only the visible
/// part, memory does not grow with the whole image.
private struct SVGText {
    private let file: SharedBytes
    private var additions: [UInt8] = []
    private var pieces: [(isAddition: Bool, range: Range<Int>)] = []

    /// Wraps the text; `rectangle` and `size` are in CSS pixels.
    ///
    /// - Parameter scale: Pixels of the result per CSS pixel.
    init(
        _ file: SharedBytes, showing rectangle: (x: Double, y: Double, width: Double, height: Double)?,
        of size: (width: Double, height: Double), enlargedBy scale: Double, embedding: SVGRewriter.Embedding
    ) throws {
        self.file = file
        var replacements = try file.withBytes { bytes throws -> [SVGReference] in
            var scanner = SVGScanner(bytes, maximum: SVGRoot.maximum)
            guard scanner.findRoot(bytes) else { return [] }
            let box = SVGRoot(bytes)?.viewBox ?? size
            let boxScale = min(size.width / box.width, size.height / box.height)
            let unit = CSVGShim_draws_fixed_strokes() == 0 ? scale * boxScale : scale
            let rewriting = try SVGRewriter(bytes, from: scanner.root, pixel: 1 / unit, embedding: embedding)
            // The prefix avoids conflicts with names in the file.
            let start = rectangle.map { rectangle in
                "<alula:svg xmlns:alula='http://www.w3.org/2000/svg' preserveAspectRatio='none' viewBox='"
                    + "\(rectangle.x) \(rectangle.y) \(rectangle.width) \(rectangle.height)'>"
                    + "<alula:svg width='\(size.width)' height='\(size.height)'>"
            }
            let opening = SVGReference(range: scanner.root..<scanner.root, text: start ?? "")
            return scanner.references + [opening] + rewriting.replacements
        }
        let end = file.count..<file.count
        replacements.append(SVGReference(range: end, text: rectangle == nil ? "" : "</alula:svg></alula:svg>"))
        var start = 0
        for replacement in replacements {
            append(start..<replacement.range.lowerBound)
            append(replacement.text)
            start = replacement.range.upperBound
        }
    }

    private mutating func append(_ range: Range<Int>) { pieces.append((false, range)) }

    private mutating func append(_ text: String) {
        let start = additions.count
        additions += text.utf8
        pieces.append((true, start..<additions.count))
    }

    @unsafe
    func withPieces<Result>(_ body: (UnsafeBufferPointer<CSVGShimPiece>) -> Result) -> Result {
        unsafe file.withUnsafeBytes { file in
            unsafe additions.withUnsafeBytes { additions in
                let pieces = unsafe pieces.map { piece in
                    let bytes = unsafe UnsafeRawBufferPointer(
                        rebasing: (piece.isAddition ? additions : file)[piece.range])
                    return unsafe CSVGShimPiece(bytes: bytes.baseAddress, count: bytes.count)
                }
                return unsafe pieces.withUnsafeBufferPointer { unsafe body($0) }
            }
        }
    }
}
