import CVipsShim
import Memory
import Recipes

enum PNGMetadata {
    private static let keyword: StaticString = "XML:com.adobe.xmp\0"

    static func read(_ bytes: RawSpan, skipsData: Bool = false) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        var chunks = PNGChunks(skipsData: skipsData)
        while let chunk = chunks.next(in: bytes), !bytes.hasText("IEND", at: chunk.type) {
            if bytes.hasText("iTXt", at: chunk.type) {
                readText(bytes, in: chunk.data, into: &metadata)
            } else if bytes.hasText("caBX", at: chunk.type) {
                metadata.hasManifest = true
            }
        }
        return metadata
    }

    /// Reads `iTXt` (W3C PNG section 11.3.3.4): compression, language and translated keyword precede the text.
    private static func readText(_ bytes: RawSpan, in data: Range<Int>, into metadata: inout EmbeddedMetadata) {
        guard bytes.hasText(keyword, at: data.lowerBound) else { return }
        let start = data.lowerBound + keyword.utf8CodeUnitCount
        guard let isCompressed = try? bytes.byte(at: start),
            let language = bytes.firstIndex(of: 0, from: start + 2),
            let name = bytes.firstIndex(of: 0, from: language + 1), name < data.upperBound
        else { return }
        let text = name + 1..<data.upperBound
        guard isCompressed != 0 else { return metadata.addPacket(bytes, at: text) }
        let inflated = Inflation.prefix(of: bytes.extracting(text), maximum: EmbeddedMetadata.longestPacket / 4)
        unsafe metadata.addPacket(inflated.span.bytes, at: 0..<inflated.count)
    }

    static func withPacket(_ file: SharedBytes, packet: [UInt8]) -> SharedBytes {
        file.inserting(chunk: "iTXt", Array("\(keyword)".utf8) + [0, 0, 0, 0] + packet)
    }
}
