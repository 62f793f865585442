import CFaces
import CPixels
package import Coordination
package import Memory
package import Recipes

/// Finds faces by two cascades of MB-LBP classifiers in OpenCV's format (docs/faces.md).
package struct FaceDetector: Sendable {
    /// Files of Debian's `opencv-data`: the first finds small faces, the second is more reliable for large ones.
    package static let paths = ["frontalface", "frontalface_improved"].map {
        "/usr/share/opencv4/lbpcascades/lbpcascade_\($0).xml"
    }

    /// Parameters of each cascade, chosen by measurement (docs/measurements/faces.md).
    private static let uses = [
        CFacesUse(min_windows: 18, enlargement: 100, rise: 1, first_scale: 170, first_turned_scale: 280),
        CFacesUse(min_windows: 8, enlargement: 145, rise: 14, first_scale: 150, first_turned_scale: 170),
    ]

    /// Checked `CFacesCascade` values.
    private let cascades: [UInt8]

    /// Returns nil if a file is not a supported cascade or exceeds the limits.
    ///
    /// - Parameter files: The contents of ``paths``.
    package init?(_ files: [[UInt8]]) {
        let read = zip(files, Self.uses).map { CascadeFile($0, for: $1)?.cascade }
        guard read.count == Self.uses.count, !read.contains(nil) else { return nil }
        cascades = read.flatMap { $0 ?? [] }
    }

    /// Returns the input of a worker process for this image.
    package func search(_ image: DecodedImage, token: WorkToken) throws -> FaceSearch {
        var luma = [UInt8]()
        var size = PixelSize(width: 0, height: 0)
        try unsafe image.withFrame(token) { frame, _ in
            // Only the first frame of an animation.
            let (width, height) = unsafe (frame.width, min(frame.height, Int32(image.size.height)))
            let reduction = CFaces_reduction(width, height, Int32(ImageHeader.facePixels))
            size = PixelSize(width: Int(width / reduction), height: Int(height / reduction))
            luma = [UInt8](repeating: 0, count: size.area)
            let isDone = unsafe CFaces_shrink(frame.pixels, frame.stride, width, height, frame.bands, reduction, &luma)
            return isDone == 1 ? 0 : -1
        }
        return FaceSearch(size: size, bytes: SharedBytes(cascades + luma))
    }
}

/// The input of a search: two cascades and the luma of an image.
package struct FaceSearch: Sendable {
    package let size: PixelSize
    package let bytes: SharedBytes

    package init(size: PixelSize, bytes: SharedBytes) {
        self.size = size
        self.bytes = bytes
    }

    /// The CPU time for any image (docs/measurements/faces.md).
    package static let time = Duration.milliseconds(6)

    /// Address space of a search in bytes.
    package static let memory = 32 << 20

    private static let cascadeCount = 2

    static func byteCount(of size: PixelSize) -> Int { cascadeCount * CFaces_cascade_size() + size.area }

    /// Returns the faces, largest first.
    package func faces() throws(ImagingError) -> [Face] {
        guard size.area <= CFaces_max_pixels, bytes.count == Self.byteCount(of: size) else {
            throw .cannotDecode(detail: "the luma does not fill the image")
        }
        var found = [CFacesFace](repeating: CFacesFace(), count: CFaces_max_faces)
        let count = unsafe bytes.withUnsafeBytes { bytes -> Int32 in
            let starts = (0...Self.cascadeCount).map { $0 * CFaces_cascade_size() }
            let isValid = starts.dropLast().allSatisfy {
                unsafe CFaces_is_valid(OpaquePointer(bytes.baseAddress?.advanced(by: $0))) == 1
            }
            guard isValid, let cascades = OpaquePointer(bytes.baseAddress) else { return 0 }
            let luma = unsafe bytes.baseAddress?.advanced(by: starts[Self.cascadeCount])
                .assumingMemoryBound(to: UInt8.self)
            return unsafe CFaces_find(
                cascades, Int32(Self.cascadeCount), luma, Int32(size.width), Int32(size.height), &found)
        }
        guard count >= 0 else { throw .outOfMemory(detail: "no memory to find faces") }
        return found.prefix(Int(count)).compactMap { Face($0, in: size) }
    }
}

extension Face {
    /// Returns nil if less than a pixel of the face is inside the image.
    fileprivate init?(_ face: CFacesFace, in size: PixelSize) {
        func share(_ position: Float, of side: Int) -> Int {
            min(max(0, Int((position / Float(side) * Float(Self.whole)).rounded())), Self.whole)
        }
        let left = share(face.x, of: size.width)
        let top = share(face.y, of: size.height)
        let right = share(face.x + face.width, of: size.width)
        let bottom = share(face.y + face.height, of: size.height)
        // Confidence n/(n + minimum): 0.5 at the required number of windows, 0.67 at twice that.
        let windows = Int(face.windows)
        let confidence = Self.whole * windows / (windows + 100)
        self.init(x: left, y: top, width: right - left, height: bottom - top, confidence: confidence)
        guard isPlausible else { return nil }
    }
}
