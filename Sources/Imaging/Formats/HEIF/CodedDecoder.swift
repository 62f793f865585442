import CCodedImages
import Recipes

/// Decodes AV1 and HEVC data by dav1d and libde265, which cannot be interrupted.
@safe
final class CodedDecoder {
    private let raw: OpaquePointer
    private let coding: HEIFCoding
    private let size: PixelSize

    /// - Parameter skipsFilters: Skips in-loop filters; only for frames that no others refer to.
    init(_ coding: HEIFCoding, size: PixelSize, point: Int = 0, skipsFilters: Bool = false) throws(ImagingError) {
        // HEVC pads to blocks of at most 64×64 pixels.
        let beyond = coding == .hevc ? 63 : 0
        let maximum = UInt32((size.width + beyond) * (size.height + beyond))
        guard
            let raw = unsafe CCodedImages_open(
                coding == .av1 ? CCodedImagesAV1 : CCodedImagesHEVC, maximum, Int32(point), skipsFilters ? 1 : 0)
        else { throw .outOfMemory(detail: "the decoder cannot be started") }
        unsafe self.raw = raw
        self.coding = coding
        self.size = size
    }

    deinit { unsafe CCodedImages_close(raw) }

    @unsafe
    func frame(of data: RawSpan, parameters: RawSpan) throws(ImagingError) -> CCodedImagesFrame {
        switch coding {
        case .av1: try push(data)
        case .hevc: try pushUnits(data, lengthSize: pushParameters(parameters))
        }
        var frame = CCodedImagesFrame()
        guard unsafe CCodedImages_take(raw, &frame) == CCodedImagesDone else {
            throw .cannotDecode(detail: "the coded image cannot be decoded")
        }
        let decodedSize = unsafe PixelSize(width: Int(frame.planes.0.width), height: Int(frame.planes.0.height))
        guard decodedSize == size else {
            throw .cannotDecode(detail: "the header says \(size), the data say \(decodedSize)")
        }
        return frame
    }

    private func push(_ data: RawSpan) throws(ImagingError) {
        let status = unsafe data.withUnsafeBytes { unsafe CCodedImages_push(raw, $0.baseAddress, $0.count) }
        guard status == CCodedImagesDone else { throw .cannotDecode(detail: "the coded image cannot be read") }
    }

    /// Reads `hvcC` (ISO/IEC 14496-15 section 8.3.2.1); returns the bytes of each unit's length field.
    private func pushParameters(_ box: RawSpan) throws(ImagingError) -> Int {
        let lengthSize = try box.byte(at: 21) & 3 + 1
        var offset = 23
        for _ in 0..<(try box.byte(at: 22)) {
            let count = try box.bigEndian16(at: offset + 1)
            offset += 3
            for _ in 0..<count {
                let length = try box.bigEndian16(at: offset)
                guard offset + 2 + length <= box.byteCount else {
                    throw .cannotDecode(detail: "the parameters of an HEVC item are truncated")
                }
                let unit = box.extracting(offset + 2..<offset + 2 + length)
                // Coded images are not allowed here: they are counted only in the data.
                guard try unit.byte(at: 0) >> 1 & 0x3F >= 32 else {
                    throw .cannotDecode(detail: "the parameters of an HEVC item hold an image")
                }
                try push(unit)
                offset += 2 + length
            }
        }
        return lengthSize
    }

    private func pushUnits(_ data: RawSpan, lengthSize: Int) throws(ImagingError) {
        var offset = 0
        while offset < data.byteCount {
            let length = try data.bigEndian(lengthSize, at: offset)
            offset += lengthSize
            guard length <= data.byteCount - offset else {
                throw .cannotDecode(detail: "the file ends before its pixels do")
            }
            if length > 0 { try push(data.extracting(offset..<offset + length)) }
            offset += length
        }
    }
}
