package import Imaging
package import Memory

extension WorkerAnswer {
    /// Bytes that a file of a picture of `size` takes at most.
    static func mostFileBytes(of size: PixelSize) -> Int { size.area * 8 + 1 << 16 }

    /// The file of a picture of `size` that is said to be in `memory`, which nobody can change from now on.
    ///
    /// - Throws: Where it is none, or longer than ``mostFileBytes(of:)``, which the dearest pixels take with everything around them.
    package static func file(
        byteCount: Int, in memory: inout OutputMemory, format: ImageFormat, size: PixelSize
    ) throws -> SharedBytes {
        guard byteCount <= mostFileBytes(of: size) else {
            throw ImagingError.encodeFailed(detail: "\(byteCount) bytes for \(size)")
        }
        try memory.settle(count: byteCount)
        let file = try memory.settled(count: byteCount)
        let header = try ImageHeader.inspect(file)
        guard header.format == format, header.storedSize == size else {
            throw ImagingError.encodeFailed(detail: "the file is said to be a \(format) of \(size)")
        }
        return file
    }
}
