import CPixels

extension CPixelsOutline {
    /// The same outline, with a transparent colour.
    init(_ outline: Outline) {
        self.init()
        (left, top) = (outline.left, outline.top)
        (right, bottom) = (outline.right, outline.bottom)
        (across, down) = (outline.across, outline.down)
        precondition(outline.corners.count <= Int(CPixels_most_corners), "too many corners")
        unsafe withUnsafeMutableBytes(of: &corners) { bytes in
            for (index, value) in outline.corners.flatMap({ [$0.x, $0.y] }).enumerated() {
                unsafe bytes.storeBytes(of: value, toByteOffset: index * MemoryLayout<Double>.stride, as: Double.self)
            }
        }
        count = Int32(outline.corners.count)
    }
}

/// Stores values as floating point numbers in an array of C.
@unsafe
func store<Numbers>(_ values: some Sequence<Double>, in numbers: inout Numbers) {
    unsafe withUnsafeMutableBytes(of: &numbers) { bytes in
        for (index, value) in values.enumerated() {
            unsafe bytes.storeBytes(of: Float(value), toByteOffset: index * MemoryLayout<Float>.stride, as: Float.self)
        }
    }
}
