import Memory
import Recipes

/// Adds the trailer that libvips requires, and transparent colors, without which it shows cleared areas opaque.
enum GIFRepair {
    private static let trailer: [UInt8] = [0x3B]
    /// A frame that makes libvips add an alpha band.
    private static let transparent: [UInt8] =
        [0x21, 0xF9, 4, 1, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]

    /// Adds a trailer and, if necessary, a last frame that adds alpha.
    ///
    /// Counts codes to find out whether a truncated frame has all its pixels, because libnsgif does not report it.
    static func repair(_ file: SharedBytes, header: ImageHeader, plan: DecodePlan) throws(ImagingError) -> RepairedFile
    {
        var last: (descriptor: Int, data: Int)?
        var end = GIFBlocks.End.trailer(lastFrameEnd: file.count)
        var lacksColor = header.hasAlpha
        let lastFrame = plan.page + plan.frames(of: header)
        let file = header.hasAlpha ? try withTransparentDisposal(file, before: lastFrame) : file
        try file.withBytes { bytes throws(ImagingError) in
            end = try GIFBlocks.walk(bytes) { block in
                switch block {
                case .frame(let descriptor, _, let data): last = (descriptor, data)
                case .control(let flags, _): lacksColor = lacksColor && flags & 1 == 0
                case .application: break
                }
            }
        }
        let ending = (lacksColor ? transparent : []) + trailer
        switch end {
        case .trailer where !lacksColor, .unknown where !lacksColor:
            return RepairedFile(bytes: file, isIncomplete: false)
        case .trailer(let lastFrameEnd), .unknown(_, let lastFrameEnd), .missing(let lastFrameEnd):
            return RepairedFile(bytes: file.replacingEnd(from: lastFrameEnd, with: ending), isIncomplete: false)
        case .inFrame(let subBlock):
            let isWanted = lastFrame == header.frames
            let isIncomplete = isWanted ? try lacksPixels(file, frame: last) : false
            return RepairedFile(bytes: file.closing(subBlock: subBlock, with: [0] + ending), isIncomplete: isIncomplete)
        }
    }

    /// Declares an unused color transparent in opaque frames whose area is cleared.
    ///
    /// Browsers clear to transparent; libnsgif does so only for frames with a transparent color.
    private static func withTransparentDisposal(
        _ file: SharedBytes, before last: Int
    ) throws(ImagingError) -> SharedBytes {
        var edits: [(flags: Int, index: Int)] = []
        try file.withBytes { bytes throws(ImagingError) in
            var clearing: Int?
            var frames = 0
            _ = try GIFBlocks.walk(bytes) { block in
                switch block {
                case .control(let flags, let offset): clearing = flags & 0x1D == 0x08 ? offset : nil
                case .frame(_, _, let data):
                    frames += 1
                    if frames < last, let offset = clearing, let index = GIFPixels.unusedIndex(bytes, data: data) {
                        edits.append((offset, index))
                    }
                    clearing = nil
                case .application: break
                }
            }
        }
        guard !edits.isEmpty else { return file }
        var bytes = file.array
        for edit in edits {
            bytes[edit.flags] |= 1
            // The index follows the delay.
            bytes[edit.flags + 3] = UInt8(edit.index)
        }
        return SharedBytes(bytes)
    }

    private static func lacksPixels(
        _ file: SharedBytes, frame: (descriptor: Int, data: Int)?
    ) throws(ImagingError) -> Bool {
        guard let frame else { return false }
        return try file.withBytes { bytes throws(ImagingError) in
            let needed = try GIFFrame(bytes, descriptor: frame.descriptor).size.area
            return GIFPixels.count(bytes, data: frame.data, maximum: needed) < needed
        }
    }
}

extension SharedBytes {
    fileprivate func closing(subBlock start: Int, with end: [UInt8]) -> SharedBytes {
        let left = count - start - 1
        guard left > 0 else { return replacingEnd(from: min(start, count), with: end) }
        return replacing(start..<start + 1, with: SharedBytes([UInt8(left)])).replacingEnd(from: count, with: end)
    }

    fileprivate func replacingEnd(from start: Int, with end: [UInt8]) -> SharedBytes {
        replacing(start..<count, with: SharedBytes(end))
    }
}
