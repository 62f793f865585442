package import Imaging
package import Memory

extension WorkerAnswer {
    /// The file of a picture of `size` that is said to be in `memory`, which nobody can change from now on.
    ///
    /// - Throws: Where it is none, or longer than the dearest pixels take with everything around them.
    package static func file(
        byteCount: Int, in memory: inout KeptMemory, format: ImageFormat, size: PixelSize
    ) throws -> SharedBytes {
        guard byteCount <= size.area * 8 + 1 << 16 else {
            throw ImagingError.encodeFailed(detail: "\(byteCount) bytes for \(size)")
        }
        try memory.settle(byteCount: byteCount)
        let file = try memory.settled(count: byteCount)
        let header = try ImageHeader.inspect(file)
        guard header.format == format, header.storedSize == size else {
            throw ImagingError.encodeFailed(detail: "the file is said to be a \(format) of \(size)")
        }
        return file
    }
}
