import Recipes

extension ThumborMark {
    struct Stamp: Hashable {
        var scaledSize: PixelSize
        var x = 0
        var y = 0
        var size: PixelSize

        var isWhole: Bool { size == scaledSize }
    }

    /// Returns the size in the mark's path: a square if it names only one side, one pixel if none.
    func size(ofColorOn image: PixelSize) -> PixelSize {
        func pixels(_ side: ThumborGeometry.Side?, of parent: Int) -> Int {
            switch side {
            case .pixels(let pixels): pixels
            case .parent(let less): max(0, parent - less)
            default: 0
            }
        }
        let width = pixels(layer?.width, of: image.width)
        let height = pixels(layer?.height, of: image.height)
        return PixelSize(width: max(1, width > 0 ? width : height), height: max(1, height > 0 ? height : width))
    }

    func stamp(of markSize: PixelSize, on image: PixelSize) -> Stamp {
        if let layer {
            var geometry = layer
            geometry.isSmart = false
            geometry.focuses = []
            let layout = ThumborLayout(geometry, of: ImageRegion(allOf: markSize), parent: image)
            return Self.stamp(of: layout)
        }
        guard widthShare != nil || heightShare != nil else { return Stamp(scaledSize: markSize, size: markSize) }
        let scaled = Self.size(
            of: markSize, within: widthShare.map { Double(image.width) * Double($0) / 100 },
            height: heightShare.map { Double(image.height) * Double($0) / 100 })
        return Stamp(scaledSize: scaled, size: scaled)
    }

    private static func stamp(of layout: ThumborLayout) -> Stamp {
        let part = layout.part
        let size = layout.size
        func scaled(_ length: Int, _ new: Int, of old: Int) -> Int {
            min((2 * length * new + old) / (2 * old), ThumborLayout.maximumSide)
        }
        let whole = PixelSize(
            width: max(size.width, scaled(part.whole.width, size.width, of: part.size.width)),
            height: max(size.height, scaled(part.whole.height, size.height, of: part.size.height)))
        return Stamp(
            scaledSize: whole, x: min(scaled(part.x, size.width, of: part.size.width), whole.width - size.width),
            y: min(scaled(part.y, size.height, of: part.size.height), whole.height - size.height), size: size)
    }

    private static func size(of markSize: PixelSize, within width: Double?, height: Double?) -> PixelSize {
        let markWidth = Double(markSize.width)
        let markHeight = Double(markSize.height)
        let width = width ?? markWidth * (height ?? 1) / markHeight
        let height = height ?? markHeight * width / markWidth
        func rounded(_ side: Double) -> Int {
            max(1, Int(min(side, Double(ThumborLayout.maximumSide)).rounded(.toNearestOrEven)))
        }
        return markWidth / width >= markHeight / height
            ? PixelSize(width: rounded(width), height: rounded(markHeight * width / markWidth))
            : PixelSize(width: rounded(markWidth * height / markHeight), height: rounded(height))
    }

    /// Returns the positions of repeated marks.
    ///
    /// thumbor repeats whole marks at even distances, at most six by six if there would be over a hundred. Positions in
    /// a form that only imagor supports yield adjacent marks, clipped at the edges.
    func rows(of markSize: PixelSize, on image: PixelSize) -> (across: CopyPositions, down: CopyPositions) {
        let isTiled = x.isImagorOnly || y.isImagorOnly
        func row(_ position: Position, side: Int, of markSide: Int) -> CopyPositions {
            guard position.anchor == .repeated else {
                return CopyPositions(start: position.start(in: side, markSide: markSide))
            }
            if isTiled { return CopyPositions(start: 0, count: side / markSide + 1, pitch: markSide) }
            let (count, rest) =
                side < 2 * markSide
                ? ((side + markSide - 1) / markSide, 10) : (side / markSide, side % markSide)
            return Self.spread(count, rest: rest, markSide: markSide)
        }
        var across = row(x, side: image.width, of: markSize.width)
        var down = row(y, side: image.height, of: markSize.height)
        if !isTiled, x.anchor == .repeated, y.anchor == .repeated, across.count * down.count > 100 {
            let columns = min(6, across.count)
            let rows = min(6, down.count)
            across = Self.spread(columns, rest: image.width - columns * markSize.width, markSide: markSize.width)
            down = Self.spread(rows, rest: image.height - rows * markSize.height, markSide: markSize.height)
        }
        return (across, down)
    }

    private static func spread(_ count: Int, rest: Int, markSide: Int) -> CopyPositions {
        CopyPositions(start: 0, count: count, pitch: markSide + rest / (max(count, 2) - 1))
    }
}

extension ThumborMark.Position {
    /// Returns the distance from the left or upper edge of an image of length `side`.
    func start(in side: Int, markSide: Int) -> Int {
        let distance =
            switch unit {
            case .pixels: self.distance
            case .percent: (2 * side * abs(self.distance) + 100) / 200 * self.distance.signum()
            case .millionths: side * self.distance / 1_000_000
            }
        return switch anchor {
        case .start, .repeated: distance
        case .end: side - markSide + distance
        case .center: (side - markSide) / 2
        }
    }
}
