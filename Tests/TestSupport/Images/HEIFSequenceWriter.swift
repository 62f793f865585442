import Recipes

/// Writes AVIF sequences whose frames our encoder codes independently.
package struct HEIFSequenceWriter {
    package var frames: [SampleImage]
    /// Duration of each frame in milliseconds.
    package var delay = 40
    /// Number of frames in a chunk.
    package var chunk = 2
    /// OBUs to append to frames, by frame number.
    package var additions: [Int: [UInt8]] = [:]
    /// Whether an edit list makes the frames play once.
    package var playsOnce = false

    /// Creates a writer of frames of equal size.
    package init(_ frames: [SampleImage]) { self.frames = frames }

    package var file: [UInt8] {
        var items = frames.map { HEIFWriter.Item.coded($0) }
        for (index, units) in additions { items[index].data += units }
        let kind = HEIFBox.box("ftyp", Array("avis\0\0\0\0avisavifmif1".utf8))
        let start = kind.count + movie(items, dataAt: 0).count + 8
        return kind + movie(items, dataAt: start) + HEIFBox.box("mdat", items.flatMap(\.data))
    }

    private func movie(_ items: [HEIFWriter.Item], dataAt start: Int) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 80)
        let size = frames[0].size
        let entry = HEIFBox.box(
            "av01",
            Array(zeros.prefix(24)) + size.width.bigEndian16 + size.height.bigEndian16 + zeros.prefix(50)
                + items[0].properties[1])
        var offset = start
        var chunks: [UInt8] = []
        for first in stride(from: 0, to: items.count, by: chunk) {
            chunks += offset.bigEndian32
            offset += items[first..<min(first + chunk, items.count)].reduce(0) { $0 + $1.data.count }
        }
        let chunkCount = (items.count + chunk - 1) / chunk
        let last = items.count - (chunkCount - 1) * chunk
        let runs =
            last == chunk
            ? 1.bigEndian32 + run(1, chunk)
            : 2.bigEndian32 + run(1, chunk) + run(chunkCount, last)
        let table = HEIFBox.box(
            "stbl",
            HEIFBox.full("stsd", 1.bigEndian32 + entry)
                + HEIFBox.full("stts", 1.bigEndian32 + items.count.bigEndian32 + delay.bigEndian32)
                + HEIFBox.full("stsc", runs)
                + HEIFBox.full(
                    "stsz", 0.bigEndian32 + items.count.bigEndian32 + items.flatMap(\.data.count.bigEndian32))
                + HEIFBox.full("stco", chunkCount.bigEndian32 + chunks))
        let header = HEIFBox.full("mdhd", zeros.prefix(8) + 1000.bigEndian32 + zeros.prefix(8))
        let edits = playsOnce ? HEIFBox.box("edts", HEIFBox.full("elst", Array(zeros.prefix(16)))) : []
        return HEIFBox.box(
            "moov",
            HEIFBox.box(
                "trak",
                HEIFBox.full("tkhd", zeros.prefix(8) + 1.bigEndian32 + zeros.prefix(68)) + edits
                    + HEIFBox.box("mdia", header + HEIFBox.box("minf", table))))
    }

    private func run(_ first: Int, _ count: Int) -> [UInt8] {
        first.bigEndian32 + count.bigEndian32 + 1.bigEndian32
    }
}
