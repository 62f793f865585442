import Memory

/// Repairs GIF files without a trailer, which libvips refuses.
enum GIFRepair {
    private static let trailer: UInt8 = 0x3B

    /// The file with a trailer; the same bytes if it has one.
    ///
    /// Whether a truncated frame has all of its pixels is found out by counting its codes, because libnsgif does not
    /// report it.
    static func repair(_ file: SharedBytes, header: ImageHeader, plan: DecodePlan) throws(ImagingError) -> RepairedFile
    {
        var last: (descriptor: Int, data: Int)?
        var end = GIFBlocks.End.trailer
        try file.withBytes { bytes throws(ImagingError) in
            end = try GIFBlocks.walk(bytes) { block in
                if case .frame(let descriptor, _, let data) = block { last = (descriptor, data) }
            }
        }
        switch end {
        case .trailer, .unknown: return RepairedFile(bytes: file, isIncomplete: false)
        case .missing(let lastFrameEnd):
            return RepairedFile(bytes: file.with([trailer], instead: lastFrameEnd), isIncomplete: false)
        case .inFrame(let part):
            let isWanted = plan.page + plan.frames(of: header) == header.frames
            let isIncomplete = isWanted ? try lacksPixels(file, last) : false
            return RepairedFile(bytes: file.closing(part: part), isIncomplete: isIncomplete)
        }
    }

    private static func lacksPixels(
        _ file: SharedBytes, _ frame: (descriptor: Int, data: Int)?
    ) throws(ImagingError) -> Bool {
        guard let frame else { return false }
        return try file.withBytes { bytes throws(ImagingError) in
            let needed = try GIFFrame(bytes, descriptor: frame.descriptor).size.area
            return GIFPixels.count(bytes, data: frame.data, most: needed) < needed
        }
    }
}

/// A file that the decoder can read to its end.
struct RepairedFile {
    let bytes: SharedBytes
    /// Whether the wanted frames lack pixels; these are gray, or have the pixels of the frame before.
    let isIncomplete: Bool
}

extension SharedBytes {
    /// The first `count` bytes, and `end` after them.
    fileprivate func with(_ end: [UInt8], instead count: Int) -> SharedBytes {
        var result = ByteAccumulator(reservingCapacity: count + end.count)
        unsafe withUnsafeBytes { unsafe result.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        result.append(end)
        return result.finish()
    }

    /// The bytes with a last sub-block of data as long as the file, and a trailer.
    fileprivate func closing(part: Int) -> SharedBytes {
        let left = count - part - 1
        guard left > 0 else { return with([0, 0x3B], instead: min(part, count)) }
        var result = ByteAccumulator(reservingCapacity: count + 2)
        unsafe withUnsafeBytes { bytes in
            unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[..<part]))
            result.append([UInt8(left)])
            unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[(part + 1)...]))
            result.append([0, 0x3B])
        }
        return result.finish()
    }
}
