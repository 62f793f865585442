import Recipes

struct ThumborPlanBuilder {
    private(set) var frame: Frame
    private let box: PixelSize
    private let padding: ThumborGeometry.Padding?

    init(_ frame: Frame, box: PixelSize, padding: ThumborGeometry.Padding?) {
        self.frame = frame
        self.box = box
        self.padding = padding
    }

    var additions: [ImageHeader] { frame.source.additions }

    mutating func add(_ step: some RenderStep) { frame.apply(step) }

    mutating func overlay(_ index: Int, scaledTo size: PixelSize, _ layout: OverlayLayout, opacity: Int) {
        frame.overlay(index, scaledTo: size, layout, opacity: opacity)
    }

    mutating func cut(to size: PixelSize) {
        if size != frame.size { frame.cropToFaces(size) }
    }

    mutating func append(_ filter: ThumborFilter) {
        switch filter {
        case .upscale: upscale()
        case .proportion(let share):
            // Longer sides are rejected later, and must not overflow here.
            func side(_ sourceSide: Int) -> Int { min(sourceSide, ThumborLayout.maximumSide) * share / 1_000_000 }
            let size = PixelSize(width: side(frame.size.width), height: side(frame.size.height))
            if size.width > 0, size.height > 0 { resample(to: size) }
        case .fill(let paint, let isBehind): fill(paint, isBehind: isBehind)
        case .background(let color): lay(on: color)
        case .cornerBackground: if frame.hasAlpha { add(CornerBackgroundStep()) }
        case .color(let map): add(ColorFormulaStep(map))
        case .histogram(let step): add(step)
        case .convolution(let step): add(step)
        case .gaussian(let step): add(step)
        case .mosaic(let side): if side > 1 { add(MosaicStep(side: side)) }
        case .turn(let turn): frame.turn(turn)
        case .corners(let across, let down, let color):
            if across > 0, down > 0 {
                add(OutlineStep(.elliptic(across: across * 1_000, down: down * 1_000), color: color))
            }
        case .padding(let color, let padding):
            lay(on: color)
            add(
                MarginStep(
                    ImageOperations.Margins(
                        top: padding.top, right: padding.right, bottom: padding.bottom, left: padding.left),
                    color: color))
        case .crop(let x, let y, let width, let height): crop(x: x, y: y, width: width, height: height)
        case .mark(let mark):
            append(mark)
            overlayInner(of: mark)
        }
    }

    private mutating func resample(to size: PixelSize) {
        if size != frame.size { frame.resample(to: size) }
    }

    private mutating func lay(on color: Color) {
        if frame.hasAlpha, color.alpha > 0 { add(BackgroundStep(color)) }
    }

    private mutating func upscale() {
        let sourceSide = frame.size
        guard sourceSide.width < box.width, sourceSide.height < box.height else { return }
        if sourceSide.width * box.height >= sourceSide.height * box.width {
            resample(to: PixelSize(width: box.width, height: max(1, sourceSide.height * box.width / sourceSide.width)))
        } else {
            resample(
                to: PixelSize(width: max(1, sourceSide.width * box.height / sourceSide.height), height: box.height))
        }
    }

    /// Fills the box around the image; longer sides are cropped.
    private mutating func fill(_ paint: ThumborFilter.Paint, isBehind: Bool) {
        if case .color(let color) = paint, isBehind || padding != nil { lay(on: color) }
        let padding = padding ?? ThumborGeometry.Padding()
        let inner = PixelSize(
            width: box.width > 0 ? box.width : frame.size.width,
            height: box.height > 0 ? box.height : frame.size.height)
        let canvas = PixelSize(
            width: inner.width + padding.left + padding.right, height: inner.height + padding.top + padding.bottom)
        let fill: CanvasFill =
            switch paint {
            case .color(let color): .color(color)
            case .mean: .backdrop(.mean)
            case .blurred: .backdrop(.blurred(sigma: 2_500_000))
            }
        frame.place(
            on: canvas, x: Self.halfRoundedDown(inner.width - frame.size.width) + padding.left,
            y: Self.halfRoundedDown(inner.height - frame.size.height) + padding.top, fill)
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
        let left = pixels(x, of: frame.size.width), top = pixels(y, of: frame.size.height)
        let size = PixelSize(
            width: min(pixels(width, of: frame.size.width), frame.size.width - left),
            height: min(pixels(height, of: frame.size.height), frame.size.height - top))
        guard size.width > 0, size.height > 0, size != frame.size else { return }
        add(CropStep(x: left, y: top, size: size))
    }

    private static func halfRoundedDown(_ number: Int) -> Int { number >> 1 }
}

extension ThumborPlanBuilder {
    private mutating func append(_ mark: ThumborMark) {
        switch mark.subject {
        case .color(let color):
            let size = mark.size(ofColorOn: frame.size)
            blend(mark, size: size) { across, down in
                BlendStep(.color(color, size: size), across: across, down: down, mode: mark.mode, opacity: mark.opacity)
            }
        case .source(let index):
            guard additions.indices ~= index else { return }
            let header = additions[index]
            let stamp = mark.stamp(of: header.size, on: frame.size)
            let isSingle = mark.x.anchor != .repeated && mark.y.anchor != .repeated
            if isSingle, mark.mode == .normal, stamp.isWhole {
                let layout = OverlayLayout(
                    scaledSize: stamp.scaledSize, x: mark.x.start(in: frame.size.width, sourceSide: stamp.size.width),
                    y: mark.y.start(in: frame.size.height, sourceSide: stamp.size.height), on: frame.size)
                guard let layout else { return }
                overlay(index, scaledTo: stamp.scaledSize, layout, opacity: mark.opacity)
                return
            }
            guard var layout = OverlayLayout(scaledSize: stamp.scaledSize, x: 0, y: 0, on: frame.size) else { return }
            layout.coveredSize = PixelSize(
                width: min(stamp.size.width, frame.size.width), height: min(stamp.size.height, frame.size.height))
            layout.firstColumn = stamp.x
            layout.firstRow = stamp.y
            let addition = frame.use(index, scaledTo: stamp.scaledSize)
            blend(mark, size: stamp.size) { across, down in
                BlendStep(
                    of: index, layout: layout, decoded: addition.decoded, across: across, down: down, mode: mark.mode,
                    opacity: mark.opacity)
            }
        }
    }

    private mutating func blend(_ mark: ThumborMark, size: PixelSize, _ step: (BlendRow, BlendRow) -> BlendStep) {
        let rows = mark.rows(of: size, on: frame.size)
        let across = rows.across, down = rows.down
        guard across.count > 0, down.count > 0, across.start < frame.size.width, down.start < frame.size.height,
            across.start + size.width > 0, down.start + size.height > 0
        else { return }
        add(step(across, down))
    }
}
