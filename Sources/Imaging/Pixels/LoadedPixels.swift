import Memory

/// The pixels of a still or of frames as a library or our own code has read them: as stored, 8 bits, colours by the
/// file's profile.
struct LoadedPixels {
    /// Rows without gaps, bands interleaved, frames one after the other.
    let pixels: SharedBytes
    /// Size in pixels, which is the header's stored size.
    let size: PixelSize
    /// 1 grey, 2 grey with alpha, 3 colour, 4 colour with alpha.
    let bands: Int
    /// The ICC profile, if there is one that is not sRGB.
    var profile: SharedBytes?
    /// Milliseconds of each frame; empty for stills.
    var delays: [Int] = []
    /// How often frames play; 0 for endless.
    var loop = 0
    /// Whether the file lacked pixels.
    var isIncomplete = false
}
