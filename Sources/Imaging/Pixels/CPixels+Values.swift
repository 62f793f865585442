import CPixels
import Coordination
import Recipes

extension CPixelsOutline {
    init(_ outline: Outline) {
        self.init()
        left = outline.left
        top = outline.top
        right = outline.right
        bottom = outline.bottom
        across = outline.across
        down = outline.down
        precondition(outline.corners.count <= Int(CPixels_max_corners), "too many corners")
        store(outline.corners.flatMap { [$0.x, $0.y] }, in: &corners)
        count = Int32(outline.corners.count)
    }
}

extension CPixelsFrame {
    @unsafe
    init(_ pixels: UnsafeMutableRawPointer?, size: PixelSize, stride: Int? = nil, bands: Int) {
        unsafe self.init(
            pixels: pixels?.assumingMemoryBound(to: UInt8.self), stride: stride ?? size.width * bands,
            width: Int32(size.width), height: Int32(size.height), bands: Int32(bands))
    }
}

func store<Value: BitwiseCopyable, Values>(_ values: some Collection<Value>, in array: inout Values) {
    unsafe withUnsafeMutableBytes(of: &array) { bytes in
        precondition(values.count * MemoryLayout<Value>.stride <= bytes.count, "too many values")
        for (index, value) in values.enumerated() {
            unsafe bytes.storeBytes(of: value, toByteOffset: index * MemoryLayout<Value>.stride, as: Value.self)
        }
    }
}

func storeFloats<Values>(_ values: some Sequence<Double>, in array: inout Values) {
    store(values.map { Float($0) }, in: &array)
}

/// Tells C libraries whether to stop: returns 1 if they must.
///
/// The context is a ``WorkToken``, which the caller of the library keeps alive.
func shouldStop(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context = unsafe context else { return 1 }
    return unsafe Unmanaged<WorkToken>.fromOpaque(context).takeUnretainedValue().shouldStop ? 1 : 0
}

extension CPixelsWatch {
    @unsafe
    init(_ token: WorkToken) {
        unsafe self.init(should_stop: shouldStop, context: Unmanaged.passUnretained(token).toOpaque())
    }
}

extension String {
    init(cText text: [CChar]) {
        self.init(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
