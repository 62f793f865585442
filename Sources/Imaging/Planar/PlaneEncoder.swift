import CPlanarShim
import Coordination
import Memory

/// How files of a format are written from planes.
@safe
struct PlaneEncoder: Sendable {
    /// The range of the samples in the files.
    let range: PlaneRange
    /// Whether gray images are written with chroma, too.
    let needsChroma: Bool
    /// Whether files may have an alpha plane.
    var holdsAlpha = false
    /// Whether a gray file has the same luma as one with chroma.
    var writesLumaAlone = false
    /// Writes a file.
    let write: Write

    typealias Write =
        @Sendable (_ planes: inout CPlanarShimPlanes, EncoderSettings, WorkToken) throws(ImagingError) -> SharedBytes

    /// The output of a C function: a file, or the reason why there is none, which ends with a zero.
    @safe
    struct Output {
        var base: UnsafeMutableRawPointer?
        var count = 0
        var text = [CChar](repeating: 0, count: Int(CPlanarShim_text_size))

        /// The file that a function leaves here.
        static func file(of write: (inout Output) -> CPlanarShimStatus) throws(ImagingError) -> SharedBytes {
            var output = Output()
            guard write(&output) == CPlanarShimDone else {
                let text = output.text.prefix { $0 != 0 }.map(UInt8.init)
                throw .encodeFailed(detail: String(decoding: text, as: UTF8.self))
            }
            return unsafe SharedBytes(heap: output.base, count: output.count)
        }
    }

    /// Writes a file from planes that nothing else uses: their transparent samples may be overwritten.
    ///
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, also if `token` stops the work.
    func file(
        of planes: CPlanarShimPlanes, settings: EncoderSettings, token: WorkToken
    ) throws(ImagingError) -> SharedBytes {
        var planes = planes
        return try write(&planes, settings, token)
    }

    /// Writes a file from planes that lie in `samples`.
    ///
    /// - Parameter token: Says when to stop.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, also for planes of another range or with chroma of another
    ///   size.
    func file(
        of samples: SharedBytes, planes: [Plane], range: PlaneRange, settings: EncoderSettings,
        token: WorkToken = WorkToken()
    ) throws(ImagingError) -> SharedBytes {
        guard range == self.range, accepts(planes) else {
            throw .encodeFailed(detail: "planes that the format is not written from")
        }
        defer { extendLifetime(token) }
        return try unsafe samples.withUnsafeBytes { bytes throws(ImagingError) in
            try unsafe file(of: CPlanarShimPlanes(planes, in: bytes), settings: settings, token: token)
        }
    }

    /// Whether the planes are gray without chroma, if that may be, or have chroma at luma's size or at half of it.
    private func accepts(_ planes: [Plane]) -> Bool {
        if planes.count == 1 { return !needsChroma }
        return planes.count == 3 && planes[1].size == planes[2].size
            && [1, 2].contains { planes[1].size == planes[0].size.samples(forEach: $0) }
    }
}

extension PlaneEncoder {
    static let jpeg = PlaneEncoder(
        range: .full, needsChroma: false, writesLumaAlone: true
    ) { (planes, settings, token) throws(ImagingError) in
        try Output.file { output in
            unsafe CPlanarShim_write_jpeg(
                &planes, CPlanarShimJPEGSettings(settings), CPlanarShimWatch(token), &output.base, &output.count,
                &output.text)
        }
    }

    static let webp = PlaneEncoder(
        range: .limited, needsChroma: true, holdsAlpha: true
    ) { (planes, settings, token) throws(ImagingError) in
        try Output.file { output in
            unsafe CPlanarShim_write_webp(
                &planes, CPlanarShimWebPSettings(settings), CPlanarShimWatch(token), &output.base, &output.count,
                &output.text)
        }
    }
}
