import CFastJPEG
import CJPEGWriting
import CPlanarShim
import Coordination

// Conversions from Imaging's types to those of the C shim.

extension CPlanarShimWatch {
    /// Creates a watch that checks `token`, which must outlive the work.
    @unsafe
    init(_ token: WorkToken) {
        unsafe self.init(should_stop: shouldStop, context: Unmanaged.passUnretained(token).toOpaque())
    }
}

extension CPlanarShimJPEGSettings {
    /// - Parameter chromaStep: Pixels per chroma sample on each side, if pixels are encoded.
    init(_ settings: EncoderSettings, chromaStep: Int = 2) {
        self.init(
            quality: Int32(settings.quality), scans: CJPEGScans(effort: Int32(settings.effort)),
            has_full_chroma: chromaStep == 1 ? 1 : 0, most_side: Int32(ImageFormat.jpeg.maximumSide))
    }
}

extension CPlanarShimWebPSettings {
    init(_ settings: EncoderSettings) {
        self.init(quality: Int32(settings.quality), effort: Int32(settings.effort))
    }
}

extension CPlanarShimPlanes {
    /// Creates planes in these bytes; C reads them, and may write them if no other code uses the bytes.
    @unsafe
    init(_ planes: [Plane], in bytes: UnsafeRawBufferPointer) {
        precondition(planes.byteCount <= bytes.count, "the planes do not fit")
        let raw = unsafe planes.map { plane in
            unsafe CPlanarShimPlane(
                samples: UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.advanced(by: plane.offset)
                    .assumingMemoryBound(to: UInt8.self),
                stride: plane.stride, width: Int32(plane.size.width), height: Int32(plane.size.height))
        }
        let none = unsafe CPlanarShimPlane()
        unsafe self.init(
            planes: (raw[0], raw.count > 1 ? raw[1] : none, raw.count > 2 ? raw[2] : none, none),
            count: Int32(raw.count))
    }
}

extension CPlanarShimResampling {
    init(_ resampling: PlaneResampling) {
        self.init(
            source_width: Int32(resampling.source.width), source_height: Int32(resampling.source.height),
            left: resampling.region.left, top: resampling.region.top, width: resampling.region.width,
            height: resampling.region.height, target_width: Int32(resampling.target.width),
            target_height: Int32(resampling.target.height), mixing: CPlanarShimMixing(resampling.mixing),
            kernel: resampling.kernel == .lanczos ? CPlanarShimLanczos : CPlanarShimCatmullRom)
    }
}

extension CPlanarShimMixing {
    fileprivate init(_ mixing: PlaneResampling.Mixing) {
        self =
            switch mixing {
            case .bytes: CPlanarShimBytes
            case .words: CPlanarShimWords
            case .light: CPlanarShimLight
            case .lightOfColors: CPlanarShimLightOfColors
            }
    }
}

extension CJPEGScans {
    /// Returns the scans for an effort of ``JPEGScanChoice``.
    fileprivate init(effort: Int32) {
        self =
            switch JPEGScanChoice(rawValue: Int(effort)) ?? .bySize {
            case .one: CJPEGOneScan
            case .bySize: CJPEGScansBySize
            case .several: CJPEGSeveralScans
            }
    }
}

extension JPEGDecoding {
    init(_ outcome: CFastJPEGOutcome) {
        self =
            switch outcome {
            case CFastJPEGDone: .fast
            case CFastJPEGProcess: .fallback(.process)
            case CFastJPEGTables: .fallback(.tables)
            case CFastJPEGCode: .fallback(.code)
            case CFastJPEGRestart: .fallback(.restart)
            case CFastJPEGEnd: .fallback(.end)
            case CFastJPEGMarkers: .fallback(.markers)
            default: .fallback(.scans)
            }
    }
}
