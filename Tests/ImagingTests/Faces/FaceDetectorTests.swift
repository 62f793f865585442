import Coordination
import Foundation
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

@Suite(.timeLimit(.minutes(1)))
struct FaceDetectorTests {
    /// One of Debian's cascades; `make deps` installs them.
    private static func file() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: FaceDetector.paths[0])))
    }

    private func faces(in image: SampleImage) throws -> [Face] {
        let detector = try #require(FaceDetector.installed)
        let decoded = DecodedImage(image)
        return try detector.search(decoded, token: WorkToken()).faces()
    }

    /// Whether a face is within a tenth of the image's size from `place`.
    private func isAt(_ face: Face, _ place: FaceDrawing.Place, in size: PixelSize) -> Bool {
        let x = abs((2 * face.x + face.width) * size.width / (2 * Face.whole) - place.x)
        let y = abs((2 * face.y + face.height) * size.height / (2 * Face.whole) - place.y)
        return 5 * x < place.width && 5 * y < 2 * place.width
    }

    @Test(arguments: [1, 3], [48, 60, 100, 140, 200, 280])
    func `a face of any size is found`(bands: Int, width: Int) throws {
        let size = PixelSize(width: 640, height: 480)
        let place: FaceDrawing.Place = (330, 250, width)
        let faces = try faces(in: FaceDrawing.image(size, bands: bands, [place]))
        #expect(faces.count == 1 && faces.allSatisfy { isAt($0, place, in: size) && $0.isPlausible }, "\(faces)")
        let found = try #require(faces.first)
        #expect(found.width * size.width / Face.whole > width && found.confidence > 5_000)
    }

    @Test(arguments: [-22.0, -14, 14, 22])
    func `a face that is turned is found almost as surely as an upright one`(degrees: Double) throws {
        let size = PixelSize(width: 640, height: 480)
        let place: FaceDrawing.Place = (330, 250, 200)
        let faces = try faces(in: FaceDrawing.image(size, [place], turned: degrees))
        // Searching only upright faces gives a confidence of 0.8.
        #expect(faces.count == 1 && faces.allSatisfy { isAt($0, place, in: size) && $0.confidence > 9_000 }, "\(faces)")
    }

    @Test(arguments: [(300, 240), (1_600, 1_200), (3_001, 1_999), (480, 1_600)])
    func `large and small images are reduced first`(width: Int, height: Int) throws {
        let size = PixelSize(width: width, height: height)
        let place: FaceDrawing.Place = (width / 3, height / 2, width / 4)
        let faces = try faces(in: FaceDrawing.image(size, [place]))
        #expect(faces.count == 1 && faces.allSatisfy { isAt($0, place, in: size) }, "\(faces)")
    }

    @Test func `the largest of several faces comes first`() throws {
        let size = PixelSize(width: 800, height: 400)
        let places: [FaceDrawing.Place] = [(120, 200, 80), (400, 200, 180), (680, 200, 120)]
        let faces = try faces(in: FaceDrawing.image(size, places))
        #expect(faces.count == 3)
        for (face, place) in zip(faces, [places[1], places[2], places[0]]) {
            #expect(isAt(face, place, in: size), "\(face) at \(place)")
        }
    }

    @Test(arguments: [(100, 110), (540, 110), (100, 370), (540, 370)])
    func `a face at an edge is found, and stays within the image`(x: Int, y: Int) throws {
        let size = PixelSize(width: 640, height: 480)
        let faces = try faces(in: FaceDrawing.image(size, [(x, y, 160)]))
        #expect(faces.count == 1 && faces.allSatisfy { isAt($0, (x, y, 160), in: size) && $0.isPlausible }, "\(faces)")
    }

    @Test func `images without faces have none`() throws {
        let images = [
            SampleImage.plain(PixelSize(width: 640, height: 480), [128]),
            SampleImage(PixelSize(width: 640, height: 480), bands: 1) { x, y in [UInt8((x * 31 + y * 17) & 0xff)] },
            SampleImage(PixelSize(width: 640, height: 480), bands: 1) { x, y in [(x / 16 + y / 16) % 2 == 0 ? 0 : 255]
            },
            SampleImage.plain(PixelSize(width: 1, height: 1), [0]),
            SampleImage.plain(PixelSize(width: 5_000, height: 3), [9]),
            SampleImage.plain(PixelSize(width: 23, height: 400), [200]),
        ]
        for image in images { #expect(try faces(in: image).isEmpty, "\(image.size)") }
    }

    @Test func `transparent pixels count as white`() throws {
        let size = PixelSize(width: 320, height: 240)
        let drawing = FaceDrawing.image(size, [(160, 120, 100)])
        let hidden = SampleImage(size, bands: 2) { x, y in [drawing.pixels[y * size.width + x], 0] }
        let shown = SampleImage(size, bands: 2) { x, y in [drawing.pixels[y * size.width + x], 255] }
        #expect(try faces(in: hidden).isEmpty)
        #expect(try faces(in: shown) == faces(in: drawing))
    }

    @Test func `a damaged cascade is rejected`() throws {
        let text = String(decoding: try Self.file(), as: UTF8.self)
        let damaged = [
            "", "<", "<opencv_storage>", "<opencv_storage></opencv_storage>", String(text.dropLast(20)),
            String(text.prefix(text.count / 2)),
            text.replacingOccurrences(of: "<width>24<", with: "<width>23<"),
            text.replacingOccurrences(of: "<width>24<", with: "<width>4096<"),
            text.replacingOccurrences(of: ">LBP<", with: ">HAAR<"),
            text.replacingOccurrences(of: "<opencv_storage>", with: "<!DOCTYPE a [<!ENTITY b \"c\">]><opencv_storage>"),
            text.replacingOccurrences(of: "0 -1 46 -67130709", with: "0 -1 460000 -67130709"),
            text.replacingOccurrences(of: "0 -1 46 -67130709", with: "0 1 46 -67130709"),
            text.replacingOccurrences(of: "-0.7520892024040222", with: "nan"),
            text.replacingOccurrences(of: "-0.7520892024040222", with: "1e300"),
            text.replacingOccurrences(of: "-0.6543210148811340", with: "99999"),
            text + String(repeating: " ", count: 1 << 20), String(repeating: "<a>", count: 100_000),
        ]
        let whole = try Self.file()
        #expect(FaceDetector([whole, whole]) != nil && FaceDetector([whole]) == nil)
        for (index, text) in damaged.enumerated() {
            #expect(FaceDetector([Array(text.utf8), whole]) == nil, "number \(index)")
        }
    }

    @Test func `a search of other bytes than a cascade and an image finds none or fails`() throws {
        let search = try #require(FaceDetector.installed).search(
            DecodedImage(
                pixels: SharedBytes(FaceDrawing.image(PixelSize(width: 320, height: 240), [(160, 120, 100)]).pixels),
                size: PixelSize(width: 320, height: 240), bands: 1), token: WorkToken())
        let bytes = search.bytes.array
        #expect(throws: ImagingError.self) {
            _ = try FaceSearch(size: PixelSize(width: 321, height: 240), bytes: search.bytes).faces()
        }
        for place in 0..<8 {
            var forged = bytes
            forged[place] = 0xff
            #expect(try FaceSearch(size: search.size, bytes: SharedBytes(forged)).faces().isEmpty)
        }
    }
}
