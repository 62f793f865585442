import CPixels

extension CPixelsOutline {
    /// The same outline, with a transparent color.
    init(_ outline: Outline) {
        self.init()
        (left, top) = (outline.left, outline.top)
        (right, bottom) = (outline.right, outline.bottom)
        (across, down) = (outline.across, outline.down)
        precondition(outline.corners.count <= Int(CPixels_most_corners), "too many corners")
        store(outline.corners.flatMap { [$0.x, $0.y] }, in: &corners)
        count = Int32(outline.corners.count)
    }
}

/// Stores values in an array of C, which has room for them.
func store<Value: BitwiseCopyable, Values>(_ values: some Collection<Value>, in array: inout Values) {
    unsafe withUnsafeMutableBytes(of: &array) { bytes in
        precondition(values.count * MemoryLayout<Value>.stride <= bytes.count, "too many values")
        for (index, value) in values.enumerated() {
            unsafe bytes.storeBytes(of: value, toByteOffset: index * MemoryLayout<Value>.stride, as: Value.self)
        }
    }
}

/// Stores values as floating point numbers of 32 bits.
func storeFloats<Values>(_ values: some Sequence<Double>, in array: inout Values) {
    store(values.map { Float($0) }, in: &array)
}
