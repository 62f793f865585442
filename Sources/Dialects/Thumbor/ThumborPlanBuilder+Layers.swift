import Recipes

extension ThumborPlanBuilder {
    private struct Area {
        var x: Int
        var y: Int
        var size: PixelSize

        func intersection(_ other: Area) -> Area? {
            let left = max(x, other.x)
            let top = max(y, other.y)
            let width = min(x + size.width, other.x + other.size.width) - left
            let height = min(y + size.height, other.y + other.size.height) - top
            guard width > 0, height > 0 else { return nil }
            return Area(x: left, y: top, size: PixelSize(width: width, height: height))
        }
    }

    /// Overlays the marks of a layer, clipped to the layer.
    ///
    /// To overlay the layer and then its marks is equivalent to overlaying the combined layer.
    mutating func overlayInnerMarks(of mark: ThumborMark) {
        guard !mark.inner.isEmpty else { return }
        let imageArea = Area(x: 0, y: 0, size: image.size)
        guard let area = area(of: mark, on: imageArea), let visible = area.intersection(imageArea) else { return }
        for inner in mark.inner { overlay(inner, on: area, clippedTo: visible) }
    }

    private func area(of mark: ThumborMark, on layer: Area) -> Area? {
        let size: PixelSize
        switch mark.subject {
        case .color: size = mark.size(ofColorOn: layer.size)
        case .source(let index):
            guard additions.indices ~= index else { return nil }
            size = mark.stamp(of: additions[index].size, on: layer.size).size
        }
        return Area(
            x: layer.x + mark.x.start(in: layer.size.width, markSide: size.width),
            y: layer.y + mark.y.start(in: layer.size.height, markSide: size.height), size: size)
    }

    private mutating func overlay(_ mark: ThumborMark, on layer: Area, clippedTo visible: Area) {
        guard let area = area(of: mark, on: layer), let visiblePart = area.intersection(visible) else { return }
        switch mark.subject {
        case .color(let color):
            add(
                BlendStep(
                    .color(color, size: visiblePart.size), across: CopyPositions(start: visiblePart.x),
                    down: CopyPositions(start: visiblePart.y), opacity: mark.opacity))
        case .source(let index):
            let stamp = mark.stamp(of: additions[index].size, on: layer.size)
            guard var layout = OverlayLayout(scaledSize: stamp.scaledSize, x: 0, y: 0, on: stamp.scaledSize) else {
                return
            }
            layout.x = visiblePart.x
            layout.y = visiblePart.y
            layout.coveredSize = visiblePart.size
            layout.firstColumn = stamp.x + visiblePart.x - area.x
            layout.firstRow = stamp.y + visiblePart.y - area.y
            overlay(index, scaledTo: stamp.scaledSize, layout: layout, opacity: mark.opacity)
        }
        for inner in mark.inner { overlay(inner, on: area, clippedTo: visiblePart) }
    }
}
