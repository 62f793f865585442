/// Which work is done on planes, and which by libvips: the whole rule.
///
/// It looks at the source's head and at the request, never at what is cached or how busy the service is, so that the same
/// source and parameters make the same bytes.
enum PlanarLane {
    /// Shortest side of a picture and of a result, in pixels: of a shorter one chroma has too few samples for the filter.
    static let shortestSide = 16

    /// Whether a source may be decoded to planes, as far as its head tells before a library has read it.
    static func mayDecode(_ header: ImageHeader, plan: DecodePlan) -> Bool {
        guard min(header.storedSize.width, header.storedSize.height) >= shortestSide * plan.level else { return false }
        return header.format.reading.planes?.mayHold(header) ?? false
    }

    /// Whether libjpeg finds planes in the source, of colours that numbers describe.
    static func decodes(_ head: JPEGHead) -> Bool {
        head.planes != 0 && [1, 2, 4].contains(head.across) && [1, 2, 4].contains(head.down) && !head.hasOtherProfile
    }

    /// Whether planes can be resampled to the result's size: what enlarges or is tiny goes to libvips in its decoded size.
    static func resamples(_ image: DecodedImage, plan: RenderPlan) -> Bool {
        let target = plan.rectangle.size
        return plan.resizedSize.width <= image.size.width && plan.resizedSize.height <= image.size.height
            && min(target.width, target.height) >= shortestSide
    }

    /// Whether the resampled planes are the result already, to be encoded as they are.
    ///
    /// A colour profile, a canvas and the search for the interesting part need pixels; so do PNG and GIF.
    static func encodes(_ image: DecodedImage, plan: RenderPlan) -> Bool {
        guard image.profile == nil, plan.canvas == nil, plan.format.isWrittenFromPlanes else {
            return false
        }
        return switch plan.crop {
        case .none, .rectangle: true
        case .attention, .entropy: false
        }
    }
}

extension RenderPlan {
    /// The part of the resampled picture that is known to be enough.
    var rectangle: (x: Int, y: Int, size: PixelSize) {
        if case .rectangle(let x, let y, let size) = crop { return (x, y, size) }
        return (0, 0, resizedSize)
    }

    /// What is left to do when the picture has been resampled and the rectangle cut.
    var afterResampling: RenderPlan {
        let isCut = if case .rectangle = crop { true } else { false }
        return RenderPlan(
            decode: decode, resizedSize: rectangle.size, light: light, crop: isCut ? .none : crop, canvas: canvas,
            background: background, format: format, quality: quality)
    }
}
