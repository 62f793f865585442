import CPlanar
import CVipsShim
import Memory
import Recipes

extension PlaneEncoder {
    static let webp = PlaneEncoder(
        range: .limited, needsChroma: true, holdsAlpha: true
    ) { (planes, settings, token) throws(ImagingError) in
        try Output.file { output in
            unsafe CPlanar_write_webp(
                &planes, CPlanarWebPSettings(settings), CPixelsWatch(token), &output.base, &output.count, &output.text)
        }
    }
}

extension VipsSaver {
    static let webp = VipsSaver { image, options in
        guard image.integer("page-height").map({ $0 == image.height }) ?? true else {
            return WebPMetadata.removed(from: try unsafe image.saved(options, by: CVipsShim_save_webp))
        }
        return try unsafe image.planarFile(options) { pixels, output in
            unsafe CPlanar_write_webp_pixels(
                &pixels, options.hasSharpChroma ? 1 : 0, CPlanarWebPSettings(options.settings),
                CPixelsWatch(options.token), &output.base, &output.count, &output.text)
        }
    }
}

extension CPlanarWebPSettings {
    fileprivate init(_ settings: EncoderSettings) {
        self.init(
            quality: Int32(settings.quality), effort: Int32(settings.effort), is_lossless: settings.isLossless ? 1 : 0)
    }
}
