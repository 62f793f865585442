/// Frames of equal size, stacked in one tall image, which is how libvips loads and saves animations.
struct FrameStrip {
    var image: VipsImage
    let frames: Int

    /// Applies an operation to each frame separately, so that neighbouring frames do not mix.
    ///
    /// The frames are read in order, so this works on a file that is still being read.
    func map(_ body: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> FrameStrip {
        if frames == 1 { return FrameStrip(image: try body(image), frames: 1) }
        let height = image.height / frames
        var results: [VipsImage] = []
        for frame in 0..<frames {
            let part = try image.extracted(left: 0, top: frame * height, width: image.width, height: height)
            results.append(try body(part))
        }
        return FrameStrip(image: try VipsImage.stacked(results), frames: frames)
    }
}
