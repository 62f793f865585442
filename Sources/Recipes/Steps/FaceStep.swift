/// Crops to as many faces as fit; without faces, crops like ``InterestStep`` for attention.
///
/// Uses the first frame of an animation.
package struct FaceStep: ContentCropStep {
    /// The size of the crop, without a zoom.
    package let size: PixelSize
    /// In percent: 0 crops to ``size``, 100 to the smallest region with the faces.
    private let zoom: Int
    /// The region of the upright page that the image shows.
    private let region: ImageRegion
    private let turn: QuarterTurn

    init(size: PixelSize, zoom: Int = 0, of region: ImageRegion, turned turn: QuarterTurn) {
        self.size = size
        self.zoom = zoom
        self.region = region
        self.turn = turn
    }

    private var attention: InterestStep { InterestStep(.attention, size: size) }

    package func shape(after input: FrameShape) -> FrameShape { attention.shape(after: input) }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { attention.cost(of: work) }

    /// Omits the region and its turn, which earlier steps determine.
    package var keyText: String { "face \(size.keyText)" + (zoom > 0 ? " zoom \(zoom)" : "") }

    package var summary: String {
        "crop to the \(size) pixels with the largest faces" + (zoom > 0 ? ", \(zoom) % closer" : "")
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? { zoom > 0 ? nil : [("gravity", "face")] }

    package func crop(left: Int, top: Int) -> CropStep { CropStep(x: left, y: top, size: size) }

    /// - Parameters:
    ///   - faces: Faces, largest first.
    ///   - input: The size of the image to crop.
    func resolved(by faces: [Face], in input: PixelSize) -> any RenderStep {
        let rectangles = faces.compactMap { rectangle(of: $0, in: input) }
        guard var kept = rectangles.first else { return attention }
        for face in rectangles.dropFirst() {
            let both = kept.union(face)
            if both.right - both.left <= size.width, both.bottom - both.top <= size.height { kept = both }
        }
        func start(of length: Int, around range: Range<Int>, in whole: Int) -> Int {
            min(max(0, (range.lowerBound + range.upperBound - length) / 2), whole - length)
        }
        let size = size(around: kept)
        return CropStep(
            x: start(of: size.width, around: kept.left..<kept.right, in: input.width),
            y: start(of: size.height, around: kept.top..<kept.bottom, in: input.height), size: size)
    }

    /// Returns the smallest size with the aspect ratio of ``size`` that contains `kept`.
    private func size(around kept: Rectangle) -> PixelSize {
        let share = max(
            Double(kept.right - kept.left) / Double(size.width), Double(kept.bottom - kept.top) / Double(size.height))
        let factor = 1 - Double(zoom) / 100 * (1 - min(1, share))
        func scaled(_ side: Int) -> Int { max(1, Int((Double(side) * factor).rounded())) }
        return PixelSize(width: scaled(size.width), height: scaled(size.height))
    }

    /// Returns the face in the image to crop; nil if less than half of it is in the region.
    private func rectangle(of face: Face, in input: PixelSize) -> Rectangle? {
        func position(_ share: Int, of side: Int) -> Int { (share * side + Face.whole / 2) / Face.whole }
        let whole = region.whole
        let left = max(position(face.x, of: whole.width) - region.x, 0)
        let top = max(position(face.y, of: whole.height) - region.y, 0)
        let right = min(position(face.x + face.width, of: whole.width) - region.x, region.size.width)
        let bottom = min(position(face.y + face.height, of: whole.height) - region.y, region.size.height)
        let area = position(face.width, of: whole.width) * position(face.height, of: whole.height)
        guard right > left, bottom > top, 2 * (right - left) * (bottom - top) >= area else { return nil }
        let turned = turn.turned(
            ImageRegion(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top), of: region.size))
        let shown = turn.turned(region.size)
        func scaled(_ position: Int, from shown: Int, to side: Int) -> Int { position * side / shown }
        return Rectangle(
            left: scaled(turned.x, from: shown.width, to: input.width),
            top: scaled(turned.y, from: shown.height, to: input.height),
            right: scaled(turned.x + turned.size.width, from: shown.width, to: input.width),
            bottom: scaled(turned.y + turned.size.height, from: shown.height, to: input.height))
    }
}

private struct Rectangle {
    var left, top, right, bottom: Int

    func union(_ other: Rectangle) -> Rectangle {
        Rectangle(
            left: min(left, other.left), top: min(top, other.top), right: max(right, other.right),
            bottom: max(bottom, other.bottom))
    }
}

extension RenderSteps {
    var needFaces: Bool { contains { $0 is FaceStep } }

    /// - Parameter input: The frame before the first step.
    func resolvingFaces(_ faces: [Face], on input: FrameShape) -> RenderSteps {
        var shape = input
        return RenderSteps(
            map { step -> any RenderStep in
                defer { shape = step.shape(after: shape) }
                return (step as? FaceStep)?.resolved(by: faces, in: shape.size) ?? step
            })
    }
}
