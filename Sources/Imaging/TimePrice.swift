/// What decodes and renders cost in time, in nanoseconds of one core: what does not depend on the format, which says the rest itself.
///
/// Measured on a virtual x86-64 core of 2026 with Debian 12's libraries, on photographs with noise: the dear end of what is met, not
/// the worst that can be made. Another machine is faster or slower at all of it alike; what counts are the ratios
/// (docs/costs.md has the figures).
enum TimePrice {
    /// An image that comes in passes, for each pixel, whatever the level.
    static let passes = 5.0
    /// Inks that become colours, for each pixel that the level leaves.
    static let inks = 90.0
    /// A transparent part more to decode, for each pixel.
    static let alphaPlane = 30.0

    /// What each frame of an animation costs besides, however small it is.
    static let frame = (decode: 250_000.0, encode: 2_000_000.0)

    /// What resampling costs for each pixel that it reads and each that it makes.
    static let resampling = (read: 10.0, made: 25.0)
    /// How much dearer resampling is where transparent pixels are weighed, or light is mixed instead of its code.
    static let weighing = 3.0
    /// What a profile costs that is applied to the result, for each pixel that is made.
    static let profile = 20.0
    /// What finding the interesting part costs for each pixel that is looked at.
    static let interest = 35.0

    /// From this on a decode or a render is dear: work in a lane of its own.
    ///
    /// More than a thumbnail costs, even of a source from a camera: it makes two megapixels in AVIF, WebP or PNG, five in JPEG, and not
    /// quite one in GIF.
    static let dear = Duration.milliseconds(250)

    /// A sum of nanoseconds as a time; saturates.
    static func duration(_ nanoseconds: Double) -> Duration {
        .nanoseconds(Int64(min(max(nanoseconds, 0), 1e18)))
    }
}

extension ImageHeader {
    /// About how long one core works on a decode by `plan`, as known before it starts.
    ///
    /// - Parameters:
    ///   - plan: What is decoded.
    ///   - fileByteCount: Bytes of the file, 0 where they are not known.
    package func timePrice(of plan: DecodePlan, fileByteCount: Int = 0) -> Duration {
        let time = format.reading.time
        var pixel = time.pixel
        if format.reading.reduction == .transform { pixel /= Double(plan.level) }
        if isProgressive { pixel += TimePrice.passes }
        if hasInks { pixel += TimePrice.inks / Double(plan.level * plan.level) }
        if hasAlpha, time.isAlphaApart { pixel += TimePrice.alphaPlane }
        // A frame of an animation is made of all before it.
        let kept = plan.frames(of: self)
        let gone = plan.isAnimated ? kept : format.supportsAnimation ? min(plan.page + 1, frames) : 1
        let area = Double(decodedArea)
        let depth = bitDepth > 8 ? 2.0 : 1
        let framing = plan.isAnimated ? TimePrice.frame.decode * Double(kept) : 0
        return TimePrice.duration(area * pixel * depth * Double(gone) + framing + Double(fileByteCount) * time.byte)
    }
}

extension RenderPlan {
    /// About how long one core works on this render of an image whose header is `source`, without its decode.
    package func timePrice(of source: ImageHeader) -> Duration {
        timePrice(
            of: source.shape.reduced(by: decode.level), frames: decode.frames(of: source),
            hasProfile: source.profileByteCount > 0)
    }

    /// About how long one core works on a plain image by this plan.
    package func timePrice(ofPlain color: Color) -> Duration {
        timePrice(of: FrameShape(size: source.size, hasAlpha: color.alpha < 255), frames: 1, hasProfile: false)
    }

    private func timePrice(of frame: FrameShape, frames: Int, hasProfile: Bool) -> Duration {
        let result = steps.shape(after: frame)
        let costs = steps.costs(on: frame)
        let composing = costs.reduce(0) { $0 + $1.perFrame }
        // Colours are converted when the first step has been done.
        let colored = steps.work(on: frame).first?.made ?? result.size.area
        let coloring = hasProfile ? Double(colored) * TimePrice.profile : 0
        let encoding =
            format.writing?.time.price(
                isFine: chromaStep == 1, hasAlpha: result.hasAlpha && format.supportsAlpha, isAnimated: isAnimated)
            ?? 0
        let framing = isAnimated ? TimePrice.frame.encode : 0
        return TimePrice.duration(
            (composing + coloring + Double(result.size.area) * encoding + framing) * Double(frames)
                + costs.reduce(0) { $0 + $1.once })
    }
}

extension Duration {
    /// Whether work of this price has to wait for its turn.
    package var isDear: Bool { self >= TimePrice.dear }
}
