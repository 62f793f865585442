import CJPEG
import CPlanar
import Memory
import Recipes

extension PlaneEncoder {
    static let jpeg = PlaneEncoder(
        range: .full, needsChroma: false, writesLumaAlone: true
    ) { (planes, settings, token) throws(ImagingError) in
        try Output.file { output in
            unsafe CPlanar_write_jpeg(
                &planes, CPlanarJPEGSettings(settings), CPixelsWatch(token), &output.base, &output.count, &output.text)
        }
    }
}

extension VipsSaver {
    /// Saves by the planar writer, so that both lanes write the same kind of file.
    static let jpeg = VipsSaver { image, options in
        let step = options.settings.hasFullChroma ? 1 : ImageFormat.jpeg.chromaStep(at: options.quality)
        return try unsafe image.planarFile(options) { pixels, output in
            unsafe CPlanar_write_jpeg_pixels(
                &pixels, CPlanarJPEGSettings(options.settings, chromaStep: step, isSharp: options.hasSharpChroma),
                CPixelsWatch(options.token), &output.base, &output.count, &output.text)
        }
    }
}

extension CPlanarJPEGSettings {
    /// - Parameters:
    ///   - chromaStep: The chroma subsampling of pixels; planes have it in their sizes.
    ///   - isSharp: Whether pixels keep edges between colors sharp.
    fileprivate init(_ settings: EncoderSettings, chromaStep: Int = 2, isSharp: Bool = false) {
        self.init(
            quality: Int32(settings.quality), scans: CJPEGScans(effort: Int32(settings.effort)),
            has_full_chroma: chromaStep == 1 ? 1 : 0, has_sharp_chroma: isSharp ? 1 : 0,
            max_side: Int32(ImageFormat.jpeg.maximumSide))
    }
}

extension CJPEGScans {
    fileprivate init(effort: Int32) {
        self =
            switch JPEGScanChoice(rawValue: Int(effort)) ?? .bySize {
            case .one: CJPEGOneScan
            case .bySize: CJPEGScansBySize
            case .several: CJPEGSeveralScans
            }
    }
}
