import Recipes

struct ThumborPlanBuilder {
    private(set) var image: PlannedImage
    private let box: PixelSize
    private let padding: ThumborGeometry.Padding?

    init(_ image: PlannedImage, box: PixelSize, padding: ThumborGeometry.Padding?) {
        self.image = image
        self.box = box
        self.padding = padding
    }

    var additions: [ImageHeader] { image.source.additions }

    mutating func add(_ step: some RenderStep) { image.apply(step) }

    mutating func overlay(_ index: Int, scaledTo size: PixelSize, layout: OverlayLayout, opacity: Int) {
        image.overlay(index, scaledTo: size, layout: layout, opacity: opacity)
    }

    mutating func cropToFaces(_ size: PixelSize) {
        if size != image.size { image.cropToFaces(size) }
    }

    mutating func apply(_ filter: ThumborFilter) {
        switch filter {
        case .upscale: upscale()
        case .proportion(let share):
            // Longer sides are rejected later, and must not overflow here.
            func side(_ sourceSide: Int) -> Int { min(sourceSide, ThumborLayout.maximumSide) * share / 1_000_000 }
            let size = PixelSize(width: side(image.size.width), height: side(image.size.height))
            if size.width > 0, size.height > 0 { resample(to: size) }
        case .fill(let paint, let isBehind): fill(paint, isBehind: isBehind)
        case .background(let color): flatten(onto: color)
        case .cornerBackground: if image.hasAlpha { add(CornerBackgroundStep()) }
        case .color(let map): add(ColorFormulaStep(map))
        case .histogram(let step): add(step)
        case .convolution(let step): add(step)
        case .gaussian(let step): add(step)
        case .mosaic(let side): if side > 1 { add(MosaicStep(side: side)) }
        case .turn(let turn): image.turn(turn)
        case .corners(let across, let down, let color):
            if across > 0, down > 0 {
                add(OutlineStep(.elliptic(across: across * 1_000, down: down * 1_000), color: color))
            }
        case .padding(let color, let padding):
            flatten(onto: color)
            add(
                MarginStep(
                    ImageOperations.Margins(
                        top: padding.top, right: padding.right, bottom: padding.bottom, left: padding.left),
                    color: color))
        case .crop(let x, let y, let width, let height): crop(x: x, y: y, width: width, height: height)
        case .mark(let mark):
            overlay(mark)
            overlayInnerMarks(of: mark)
        }
    }

    private mutating func resample(to size: PixelSize) {
        if size != image.size { image.resample(to: size) }
    }

    private mutating func flatten(onto color: Color) {
        if image.hasAlpha, color.alpha > 0 { add(BackgroundStep(color)) }
    }

    private mutating func upscale() {
        let size = image.size
        guard size.width < box.width, size.height < box.height else { return }
        if size.width * box.height >= size.height * box.width {
            resample(to: PixelSize(width: box.width, height: max(1, size.height * box.width / size.width)))
        } else {
            resample(to: PixelSize(width: max(1, size.width * box.height / size.height), height: box.height))
        }
    }

    /// Fills the box around the image; longer sides are cropped.
    private mutating func fill(_ paint: ThumborFilter.Paint, isBehind: Bool) {
        if case .color(let color) = paint, isBehind || padding != nil { flatten(onto: color) }
        let padding = padding ?? ThumborGeometry.Padding()
        let inner = PixelSize(
            width: box.width > 0 ? box.width : image.size.width, height: box.height > 0 ? box.height : image.size.height
        )
        let canvas = PixelSize(
            width: inner.width + padding.left + padding.right, height: inner.height + padding.top + padding.bottom)
        let fill: CanvasFill =
            switch paint {
            case .color(let color): .color(color)
            case .mean: .backdrop(.mean)
            case .blurred: .backdrop(.blurred(sigma: 2_500_000))
            }
        let corner = inner.corner(of: image.size, at: .center, rounding: .down)
        image.place(on: canvas, x: corner.x + padding.left, y: corner.y + padding.top, fill: fill)
    }

    private mutating func crop(
        x: ThumborGeometry.Length, y: ThumborGeometry.Length, width: ThumborGeometry.Length,
        height: ThumborGeometry.Length
    ) {
        func pixels(_ length: ThumborGeometry.Length, of side: Int) -> Int {
            switch length {
            case .pixels(let pixels): min(pixels, side)
            case .fraction(let share): side * share / 1_000_000
            }
        }
        let left = pixels(x, of: image.size.width)
        let top = pixels(y, of: image.size.height)
        let size = PixelSize(
            width: min(pixels(width, of: image.size.width), image.size.width - left),
            height: min(pixels(height, of: image.size.height), image.size.height - top))
        guard size.width > 0, size.height > 0, size != image.size else { return }
        add(CropStep(x: left, y: top, size: size))
    }
}

extension ThumborPlanBuilder {
    private mutating func overlay(_ mark: ThumborMark) {
        switch mark.subject {
        case .color(let color):
            let size = mark.size(ofColorOn: image.size)
            blend(mark, size: size) { across, down in
                BlendStep(.color(color, size: size), across: across, down: down, mode: mark.mode, opacity: mark.opacity)
            }
        case .source(let index):
            guard additions.indices ~= index else { return }
            let header = additions[index]
            let stamp = mark.stamp(of: header.size, on: image.size)
            let isSingle = mark.x.anchor != .repeated && mark.y.anchor != .repeated
            if isSingle, mark.mode == .normal, stamp.isWhole {
                let layout = OverlayLayout(
                    scaledSize: stamp.scaledSize, x: mark.x.start(in: image.size.width, markSide: stamp.size.width),
                    y: mark.y.start(in: image.size.height, markSide: stamp.size.height), on: image.size)
                guard let layout else { return }
                overlay(index, scaledTo: stamp.scaledSize, layout: layout, opacity: mark.opacity)
                return
            }
            guard var layout = OverlayLayout(scaledSize: stamp.scaledSize, x: 0, y: 0, on: image.size) else { return }
            layout.coveredSize = PixelSize(
                width: min(stamp.size.width, image.size.width), height: min(stamp.size.height, image.size.height))
            layout.firstColumn = stamp.x
            layout.firstRow = stamp.y
            let addition = image.use(index, scaledTo: stamp.scaledSize)
            blend(mark, size: stamp.size) { across, down in
                BlendStep(
                    of: index, layout: layout, decoded: addition.decoded, across: across, down: down, mode: mark.mode,
                    opacity: mark.opacity)
            }
        }
    }

    private mutating func blend(
        _ mark: ThumborMark, size: PixelSize, _ step: (CopyPositions, CopyPositions) -> BlendStep
    ) {
        let rows = mark.rows(of: size, on: image.size)
        let across = rows.across
        let down = rows.down
        guard across.count > 0, down.count > 0, across.start < image.size.width, down.start < image.size.height,
            across.start + size.width > 0, down.start + size.height > 0
        else { return }
        add(step(across, down))
    }
}
