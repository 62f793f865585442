import CPNG
import Coordination
import Glibc
import Memory
import Recipes

/// Repairs files whose compressed rows are truncated, have wrong checksums, or are followed by much data.
///
/// libpng does not report whether rows or only later data are missing, and libvips leaves missing rows uninitialized.
/// So the rows are counted and written to a complete file.
enum PNGRepair {
    static func repair(_ file: SharedBytes, plan: DecodePlan, token: WorkToken) throws -> RepairedFile? {
        guard let rows = try? file.withBytes({ bytes throws(ImagingError) in try PNGRows(bytes) }) else { return nil }
        // A wrong checksum does not matter if all rows are present.
        var data = rows.data[...]
        guard var count = try counted(rows.byteCount, of: data, in: file, token: token) else { return nil }
        if count < rows.byteCount, rows.intactCount < rows.data.count {
            data = rows.data.prefix(rows.intactCount)
            guard let intact = try counted(rows.byteCount, of: data, in: file, token: token) else { return nil }
            count = intact
        }
        let isIncomplete = count < rows.byteCount
        guard count > 0, !isIncomplete || plan.incompleteImages == .serve else { return nil }
        return try rewritten(file, rows: rows, of: data, isIncomplete: isIncomplete, token: token)
    }

    /// Maximum bytes after the last row, which libpng would inflate.
    private static let maximumSurplus = 64 << 10

    /// Removes data after the last row: a megabyte may inflate to a gigabyte.
    static func withoutTrailingData(_ file: SharedBytes, token: WorkToken) throws -> SharedBytes {
        guard let rows = try? file.withBytes({ bytes throws(ImagingError) in try PNGRows(bytes) }) else { return file }
        let maximum = rows.byteCount + maximumSurplus
        guard let count = try counted(maximum, of: rows.data[...], in: file, token: token), count == maximum else {
            return file
        }
        return try rewritten(file, rows: rows, of: rows.data[...], isIncomplete: false, token: token)?.bytes ?? file
    }

    private static func counted(
        _ maximum: Int, of data: ArraySlice<Range<Int>>, in file: SharedBytes, token: WorkToken
    ) throws -> Int? {
        let watch = unsafe CPixelsWatch(token)
        let spans = data.map { CPNGSpan(start: $0.lowerBound, count: $0.count) }
        let count = unsafe file.withUnsafeBytes { bytes in
            unsafe CPNG_count(bytes.baseAddress, spans, spans.count, maximum, watch)
        }
        if count <= maximum { return count }
        try token.check()
        return nil
    }

    private static func rewritten(
        _ file: SharedBytes, rows: PNGRows, of data: ArraySlice<Range<Int>>, isIncomplete: Bool, token: WorkToken
    ) throws -> RepairedFile? {
        let watch = unsafe CPixelsWatch(token)
        let compressed = file.joined(data)
        let isSpread = isIncomplete && rows.isInterlaced
        var base: UnsafeMutableRawPointer?
        var length = 0
        let status = unsafe compressed.withUnsafeBytes { bytes in
            guard isSpread else {
                return unsafe CPNG_complete(
                    bytes.baseAddress, bytes.count, rows.passes, Int32(rows.passes.count), rows.grayPixel,
                    rows.grayPixel.count, watch, &base, &length)
            }
            var image = CPNGPassed(width: rows.size.width, height: rows.size.height, bits: Int32(rows.pixelBits))
            return unsafe CPNG_spread(
                bytes.baseAddress, bytes.count, &image, rows.grayPixel, rows.grayPixel.count, watch, &base, &length)
        }
        try token.check()
        guard status == 0 else { return nil }
        let chunk = unsafe SharedBytes(heap: base, count: length)
        guard chunk.count <= Int(Int32.max) else { return nil }
        return RepairedFile(
            bytes: file.with(chunk, insteadOf: rows, isInterlaced: rows.isInterlaced && !isSpread),
            isIncomplete: isIncomplete)
    }
}

private struct PNGRows {
    let size: PixelSize
    let isInterlaced: Bool
    let start: Int
    /// The chunks up to the first truncated one.
    private(set) var data: [Range<Int>] = []
    private(set) var intactCount = 0
    let pixelBits: Int
    private(set) var passes: [CPNGPass]
    let grayPixel: [UInt8]

    var byteCount: Int { passes.reduce(0) { $0 + Int($1.rows) * (Int($1.row_size) + 1) } }

    init(_ bytes: RawSpan) throws(ImagingError) {
        size = try PixelSize(width: bytes.bigEndian32(at: 16), height: bytes.bigEndian32(at: 20))
        isInterlaced = try bytes.byte(at: 28) == 1
        let (depth, colorType) = try (bytes.byte(at: 24), bytes.byte(at: 25))
        let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colorType] ?? 1
        pixelBits = channels * depth
        passes = Self.passes(of: size, bits: pixelBits, isInterlaced: isInterlaced)
        grayPixel = Self.gray(colorType: colorType, depth: depth, channels: channels)
        var offset = 33
        while !bytes.hasText("IDAT", at: offset + 4) { offset = try offset + 12 + bytes.bigEndian32(at: offset) }
        start = offset
        var areIntact = true
        defer { if areIntact { intactCount = data.count } }
        while bytes.hasText("IDAT", at: offset + 4), let length = try? bytes.bigEndian32(at: offset) {
            let start = offset + 8
            guard let checksum = try? bytes.bigEndian32(at: start + length) else {
                data.append(start..<min(start + length, bytes.byteCount))
                break
            }
            let type = offset + 4
            let isIntact = unsafe bytes.withUnsafeBytes { bytes in
                unsafe CPNG_checksum(0, bytes.baseAddress.map { unsafe $0 + type }, length + 4) == UInt32(checksum)
            }
            if !isIntact, areIntact {
                areIntact = false
                intactCount = data.count
            }
            data.append(start..<start + length)
            offset = start + length + 4
        }
    }

    private static func passes(of size: PixelSize, bits: Int, isInterlaced: Bool) -> [CPNGPass] {
        let grids: [(left: Int, top: Int, across: Int, down: Int)] =
            isInterlaced
            ? [
                (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
            ] : [(0, 0, 1, 1)]
        return grids.compactMap { grid in
            let width = (size.width - grid.left + grid.across - 1) / grid.across
            let height = (size.height - grid.top + grid.down - 1) / grid.down
            guard width > 0, height > 0 else { return nil }
            return CPNGPass(rows: height, row_size: (width * bits + 7) / 8)
        }
    }

    private static func gray(colorType: Int, depth: Int, channels: Int) -> [UInt8] {
        switch (colorType, depth) {
        // The first color of a palette; black for one bit.
        case (3, _), (_, 1): return [0]
        case (_, 2): return [0b1010_1010]
        case (_, 4): return [0x88]
        default: break
        }
        let hasAlpha = channels.isMultiple(of: 2)
        return (0..<channels).flatMap { channel in
            [UInt8](repeating: hasAlpha && channel == channels - 1 ? 255 : 128, count: depth / 8)
        }
    }
}

extension SharedBytes {
    fileprivate func with(_ chunk: SharedBytes, insteadOf rows: PNGRows, isInterlaced: Bool) -> SharedBytes {
        var result = ByteAccumulator(reservingCapacity: rows.start + chunk.count + 20)
        unsafe withUnsafeBytes { bytes in
            unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[..<8]))
            result.append(chunk: "IHDR", unsafe Array(bytes[16..<28]) + [isInterlaced ? 1 : 0])
            unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[33..<rows.start]))
        }
        unsafe chunk.withUnsafeBytes { bytes in
            unsafe result.append(chunk: "IDAT", UnsafeRawBufferPointer(rebasing: bytes[4...]))
        }
        result.append(chunk: "IEND", [])
        return result.finish()
    }
}
