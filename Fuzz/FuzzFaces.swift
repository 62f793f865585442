import Coordination
import Memory

@testable import Imaging
@testable import Recipes

/// A pattern with edges at all scales.
private let image = DecodedImage(
    pixels: SharedBytes((0..<96 * 80).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5 ^ $0 &* 37) }),
    size: PixelSize(width: 96, height: 80), bands: 1)

/// Cascades: a file that is one is searched for, and so is a search whose cascade or image are these bytes.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let file = Array(UnsafeBufferPointer(start: bytes, count: count))
    if let detector = FaceDetector([file, file]) {
        guard let search = try? detector.search(image, token: WorkToken()), let faces = try? search.faces() else {
            fatalError("a valid cascade cannot be used")
        }
        precondition(faces.count <= Face.maximumCount && faces.allSatisfy(\.isPlausible), "an impossible face")
    }
    // A search from a process that lies: sizes first, then a cascade, then pixels.
    guard count > 2 else { return 0 }
    let size = PixelSize(width: Int(file[0]) + 1, height: Int(file[1]) + 1)
    let whole = FaceSearch.byteCount(of: size)
    let rest = Array(file.dropFirst(2).prefix(whole))
    let search = FaceSearch(
        size: size, bytes: SharedBytes(rest + [UInt8](repeating: 0, count: whole - rest.count)))
    precondition((try? search.faces())?.allSatisfy(\.isPlausible) != false, "an impossible face")
    return 0
}
