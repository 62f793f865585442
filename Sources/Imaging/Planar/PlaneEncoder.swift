import CPlanarShim
import Coordination
import Memory

/// Encodes planes to files of one format.
@safe
struct PlaneEncoder: Sendable {
    /// The sample range that the format requires.
    let range: PlaneRange
    let needsChroma: Bool
    var holdsAlpha = false
    /// Whether a gray file has the same luma as a file with chroma.
    var writesLumaAlone = false
    let write: Write

    typealias Write =
        @Sendable (_ planes: inout CPlanarShimPlanes, EncoderSettings, WorkToken) throws(ImagingError) -> SharedBytes

    /// The output of a C function: a file, or a null-terminated error text.
    @safe
    struct Output {
        var base: UnsafeMutableRawPointer?
        var count = 0
        var text = [CChar](repeating: 0, count: Int(CPlanarShim_text_size))

        static func file(of write: (inout Output) -> CPlanarShimStatus) throws(ImagingError) -> SharedBytes {
            var output = Output()
            guard write(&output) == CPlanarShimDone else {
                let text = output.text.prefix { $0 != 0 }.map(UInt8.init)
                throw .encodeFailed(detail: String(decoding: text, as: UTF8.self))
            }
            return unsafe SharedBytes(heap: output.base, count: output.count)
        }
    }

    /// Encodes planes to which the caller has exclusive access: transparent samples may be overwritten.
    ///
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, also if `token` stops the work.
    func file(
        of planes: CPlanarShimPlanes, settings: EncoderSettings, token: WorkToken
    ) throws(ImagingError) -> SharedBytes {
        var planes = planes
        return try write(&planes, settings, token)
    }

    /// Encodes planes in `samples`.
    ///
    /// - Parameter token: Reports cancellation.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, also for planes of another range or with unsupported chroma
    ///   sizes.
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

    /// Returns whether the planes are gray without chroma, if allowed, or have chroma of full or half size.
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
