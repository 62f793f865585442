import CPlanar
import Coordination
import Memory
import Recipes

@safe
struct PlaneEncoder: Sendable {
    let range: PlaneRange
    let needsChroma: Bool
    var holdsAlpha = false
    /// Whether a gray file has the same luma as a file with chroma.
    var writesLumaAlone = false
    let write: Write

    typealias Write =
        @Sendable (_ planes: inout CPlanarPlanes, EncoderSettings, WorkToken) throws(ImagingError) -> SharedBytes

    @safe
    struct Output {
        var base: UnsafeMutableRawPointer?
        var count = 0
        var text = [CChar](repeating: 0, count: Int(CPlanar_text_size))

        static func file(of write: (inout Output) -> CPlanarStatus) throws(ImagingError) -> SharedBytes {
            var output = Output()
            guard write(&output) == CPlanarDone else { throw .encodeFailed(detail: String(cText: output.text)) }
            return unsafe SharedBytes(heap: output.base, count: output.count)
        }
    }

    /// Encodes planes; the caller has exclusive access, because transparent samples may be overwritten.
    ///
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, also if `token` stops the work.
    func encode(
        _ planes: CPlanarPlanes, settings: EncoderSettings, token: WorkToken
    ) throws(ImagingError) -> SharedBytes {
        var planes = planes
        return try write(&planes, settings, token)
    }

    func encode(
        _ samples: SharedBytes, planes: [Plane], range: PlaneRange, settings: EncoderSettings,
        token: WorkToken = WorkToken()
    ) throws(ImagingError) -> SharedBytes {
        guard range == self.range, accepts(planes) else {
            throw .encodeFailed(detail: "unsupported planes")
        }
        defer { extendLifetime(token) }
        return try unsafe samples.withUnsafeBytes { bytes throws(ImagingError) in
            try unsafe encode(CPlanarPlanes(planes, in: bytes), settings: settings, token: token)
        }
    }

    private func accepts(_ planes: [Plane]) -> Bool {
        if planes.count == 1 { return !needsChroma }
        return planes.count == 3 && planes[1].size == planes[2].size
            && [1, 2].contains { planes[1].size == planes[0].size.reduced(by: $0) }
    }
}

extension VipsImage {
    func planarFile(
        _ options: VipsSaveOptions, _ write: (inout CPlanarPixels, inout PlaneEncoder.Output) -> CPlanarStatus
    ) throws -> SharedBytes {
        try unsafe pixels(token: options.token).withUnsafeBytes { bytes throws in
            var pixels = unsafe CPlanarPixels(
                samples: bytes.assumingMemoryBound(to: UInt8.self).baseAddress, width: Int32(width),
                height: Int32(height), bands: Int32(bands))
            return try PlaneEncoder.Output.file { unsafe write(&pixels, &$0) }
        }
    }
}
