import Coordination
import Memory

@testable import Imaging
@testable import Recipes

/// Files of all formats: whatever head is taken makes sense, and what decoders are spared changes nothing about it.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let file = SharedBytes(UnsafeBufferPointer(start: bytes, count: count))
    guard let header = try? ImageHeader.inspect(file) else { return 0 }
    precondition(file.withBytes { ImageHeader.sniff($0) } == header.format, "a head of another format")
    precondition(header.storedSize.width > 0 && header.storedSize.height > 0, "a picture without a side")
    precondition(1...4 ~= header.bands && header.frames > 0, "an odd head: \(header)")
    precondition(0...count ~= header.profileByteCount, "a profile longer than its file")
    var before = Int.max
    for level in [1, 2, 4, 8] {
        let cost = header.cost(of: DecodePlan(level: level, isAnimated: header.frames > 1), fileByteCount: count)
        precondition(0...before ~= cost, "a picture that is dearer when it is smaller")
        before = cost
    }
    if let map = header.gainMap, let own = map.file(in: file) {
        precondition(map.header.isPlausible && map.isPlausible, "an odd map: \(map.header)")
        guard let read = try? ImageHeader.inspect(own) else { fatalError("a map that is no picture: \(map.header)") }
        precondition(read.size == map.header.size && read.bands == map.header.bands, "another map than the header's")
    }
    switch header.format {
    case .jpeg:
        let trimmed = JPEGTrimmer.trim(file, header: header)
        check(trimmed, header, of: count)
        for level in [1, 2, 4, 8] {
            let scans = trimmed.withBytes { JPEGScans(of: $0, header: header, level: level) }
            precondition(!scans.isSmoothed || scans.highestStart == 63, "a scan is left out of a file that lacks some")
        }
    case .png:
        check(PNGTrimmer.trim(file), header, of: count)
        if header.frames > 1, header.frames < 8, header.storedSize.area < 1 << 16 {
            let plan = DecodePlan(isAnimated: true)
            if let pixels = try? PNGFrames.pixels(file, header: header, plan: plan, token: WorkToken()) {
                precondition(pixels.size == header.storedSize, "other frames than the header's")
            }
        }
    case .webp:
        // A chunk that is cut off is padded to an even length.
        if let trimmed = try? WebPTrimmer.trim(file, frames: 1) { check(trimmed, header, of: count + 1) }
    case .gif:
        let plan = DecodePlan(isAnimated: header.frames > 1, maximumFrames: 256, incompleteImages: .serve)
        if let ended = try? GIFRepair.repair(file, header: header, plan: plan) {
            precondition(
                ended.bytes.count <= count + 25, "more than an end of data, a transparent frame and a trailer was added"
            )
            guard let again = try? ImageHeader.inspect(ended.bytes) else { fatalError("a repaired file is damaged") }
            precondition(
                again.storedSize == header.storedSize && (header.hasAlpha || !again.hasAlpha)
                    && 0...1 ~= again.frames - header.frames, "another image after the repair")
        }
    case .svg:
        let plan = DecodePlan(drawnSize: PixelSize(width: 30, height: 20))
        precondition(header.decoded(by: plan).size == PixelSize(width: 30, height: 20), "a drawing of another size")
    case .tiff:
        for page in header.pages {
            precondition(page.storedSize.width > 0 && page.frames == header.frames, "an odd page")
        }
    case .bmp:
        if header.storedSize.area < 1 << 16, let pixels = try? BMPPixels.decode(file, token: WorkToken()) {
            precondition(
                pixels.size == header.storedSize && pixels.bands == header.bands, "other pixels than the header's")
        }
    case .ico:
        if header.storedSize.area < 1 << 16,
            let pixels = try? ICOPixels.decode(file, plan: DecodePlan(), token: WorkToken())
        {
            precondition(pixels.size == header.storedSize, "pixels of another size than the header's")
        }
    case .avif, .heic:
        if header.work.area < 1 << 16, header.frames < 8 {
            let plan = DecodePlan(isAnimated: header.frames > 1)
            if let pixels = try? HEIFReader.pixels(file, header: header, plan: plan, token: WorkToken()) {
                precondition(pixels.size == header.storedSize, "other pixels than the header's")
            }
            for level in [1, 2, 8] where header.frames == 1 && !header.hasAlpha {
                let reading = try? HEIFReader.planes(
                    file, header: header, plan: DecodePlan(level: level), token: WorkToken(),
                    allocate: { try PlaneMemory(count: $0) })
                guard case .decoded(let image)? = reading else { continue }
                precondition(image.size == header.size.reduced(by: level), "other planes than the header's")
            }
        }
    case .raw: checkPreview(of: file, header)
    case .jxl: break
    }
    return 0
}

/// The preview is in the file, and turned like the photograph.
private func checkPreview(of file: SharedBytes, _ header: ImageHeader) {
    guard let preview = header.preview, preview.range.upperBound <= file.count, !preview.range.isEmpty,
        let (part, own) = try? header.decodedFile(in: file)
    else { fatalError("no preview: \(header)") }
    precondition(own.format == .jpeg && own.size == header.size && own.bands == header.bands, "another preview")
    precondition(part.count <= preview.range.count + 100, "more than a preview and its turn")
}

/// What is left of a file is the same picture.
private func check(_ file: SharedBytes, _ header: ImageHeader, of count: Int) {
    precondition(file.count <= count, "more is left than there was")
    guard let trimmed = try? ImageHeader.inspect(file) else { fatalError("what is left is no picture: \(header)") }
    precondition(trimmed.format == header.format && trimmed.storedSize == header.storedSize, "another picture is left")
}
