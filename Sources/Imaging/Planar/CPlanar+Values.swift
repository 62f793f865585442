import CPixels
import CPlanar
import Recipes

extension CPlanarPlanes {
    @unsafe
    init(_ planes: [Plane], in bytes: UnsafeRawBufferPointer) {
        precondition(planes.byteCount <= bytes.count, "the planes do not fit")
        let raw = unsafe planes.map { plane in
            unsafe CPlanarPlane(
                samples: UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.advanced(by: plane.offset)
                    .assumingMemoryBound(to: UInt8.self),
                stride: plane.stride, width: Int32(plane.size.width), height: Int32(plane.size.height))
        }
        let none = unsafe CPlanarPlane()
        unsafe self.init(
            planes: (raw[0], raw.count > 1 ? raw[1] : none, raw.count > 2 ? raw[2] : none, none),
            count: Int32(raw.count))
    }

    @unsafe
    var all: [CPlanarPlane] { unsafe [planes.0, planes.1, planes.2, planes.3] }

    @unsafe
    func copy(to target: CPlanarPlanes, turned turn: QuarterTurn = .none) {
        for index in 0..<Int(count) {
            var (from, to) = unsafe (all[index], target.all[index])
            unsafe CPlanar_turn(&from, &to, Int32(turn.exif))
        }
    }
}

extension CPixelsPlanes {
    /// The planes without alpha.
    @unsafe
    init(_ planes: CPlanarPlanes, range: PlaneRange, chromaStep: Int) {
        let all = unsafe planes.all
        unsafe self.init(
            samples: (all[0].samples, all[1].samples, all[2].samples), strides: (all[0].stride, all[1].stride),
            width: all[0].width, height: all[0].height, step: Int32(chromaStep), is_limited: range == .limited ? 1 : 0)
    }
}

extension CLightResampling {
    init(_ resampling: PlaneResampling) {
        self.init(
            source_width: Int32(resampling.source.width), source_height: Int32(resampling.source.height),
            left: resampling.region.left, top: resampling.region.top, width: resampling.region.width,
            height: resampling.region.height, target_width: Int32(resampling.target.width),
            target_height: Int32(resampling.target.height), bands: resampling.mixing == .lightOfColors ? 3 : 1,
            is_plain: resampling.mixing == .samples ? 1 : 0,
            kernel: resampling.kernel == .lanczos ? CLightLanczos : CLightCatmullRom)
    }
}
