import Memory
import Recipes

enum PNGMetadata {
    private static let keyword: StaticString = "XML:com.adobe.xmp\0"

    static func parts(_ bytes: RawSpan) -> MetadataParts {
        var parts = MetadataParts()
        var chunks = PNGChunks()
        while let chunk = chunks.next(in: bytes), !bytes.hasText("IEND", at: chunk.type) {
            if bytes.hasText("iTXt", at: chunk.type) {
                readText(bytes, chunk.data, &parts)
            } else if bytes.hasText("caBX", at: chunk.type) {
                parts.hasManifest = true
            }
        }
        return parts
    }

    /// W3C PNG section 11.3.3.4: two bytes about compression, a language and a translated keyword precede the text.
    private static func readText(_ bytes: RawSpan, _ data: Range<Int>, _ parts: inout MetadataParts) {
        guard bytes.hasText(keyword, at: data.lowerBound) else { return }
        let start = data.lowerBound + keyword.utf8CodeUnitCount
        guard let isCompressed = try? bytes.byte(at: start),
            let language = bytes.firstIndex(of: 0, from: start + 2),
            let name = bytes.firstIndex(of: 0, from: language + 1), name < data.upperBound
        else { return }
        let text = name + 1..<data.upperBound
        guard isCompressed != 0 else { return parts.addPacket(bytes, text) }
        let inflated = Inflation.prefix(of: bytes.extracting(text), maximum: MetadataParts.longestPacket / 4)
        unsafe parts.addPacket(inflated.span.bytes, 0..<inflated.count)
    }

    static func withPacket(_ file: SharedBytes, _ packet: [UInt8]) -> SharedBytes {
        file.inserting(chunk: "iTXt", Array("XML:com.adobe.xmp\0".utf8) + [0, 0, 0, 0] + packet)
    }
}
