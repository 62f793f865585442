import Imaging
import Memory
import Recipes

/// Bytes of a file composed by hand.
struct FileBytes {
    private(set) var bytes: [UInt8] = []

    init() {}

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(text: String) { bytes = Array(text.utf8) }

    mutating func append(_ other: [UInt8]) { bytes += other }

    mutating func append(text: String) { bytes += Array(text.utf8) }

    /// Appends a big-endian number of `count` bytes.
    mutating func append(big value: Int, _ count: Int) {
        for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }

    /// Appends a little-endian number of `count` bytes.
    mutating func append(little value: Int, _ count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
}

func inspect(_ bytes: [UInt8]) throws(ImagingError) -> ImageHeader {
    try ImageHeader.inspect(SharedBytes(bytes))
}

/// Whether these bytes are rejected as damaged.
func isDamaged(_ bytes: [UInt8]) -> Bool {
    do {
        _ = try inspect(bytes)
        return false
    } catch {
        if case .cannotDecode = error { return true }
        return false
    }
}

/// EXIF data with only an orientation, without the `Exif` prefix of JPEG.
func exif(orientation: Int, isLittleEndian: Bool = true) -> [UInt8] {
    var file = FileBytes(text: isLittleEndian ? "II*\0" : "MM\0*")
    func append(_ value: Int, _ count: Int) {
        if isLittleEndian { file.append(little: value, count) } else { file.append(big: value, count) }
    }
    append(8, 4)
    append(2, 2)
    // A maker's name comes first, of type ASCII.
    append(0x010F, 2)
    append(2, 2)
    append(4, 4)
    append(0x41_4141, 4)
    append(0x0112, 2)
    append(3, 2)
    append(1, 4)
    append(orientation, 2)
    append(0, 2)
    append(0, 4)
    return file.bytes
}
