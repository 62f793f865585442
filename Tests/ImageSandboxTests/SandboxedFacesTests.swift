import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import ImageSandbox

@Suite(.serialized, .timeLimit(.minutes(2)))
struct SandboxedFacesTests {
    private func search(_ places: [FaceDrawing.Place]) throws -> FaceSearch {
        let image = FaceDrawing.image(PixelSize(width: 640, height: 400), places)
        return try #require(FaceDetector.installed).search(DecodedImage(image), token: WorkToken())
    }

    @Test func `a worker finds the same faces as this process, between other images`() throws {
        let fixture = try SandboxFixture()
        for places in [[(200, 200, 120), (450, 180, 80)], [], [(320, 200, 150)]] as [[FaceDrawing.Place]] {
            let search = try search(places)
            let faces = try fixture.codec.faces(search, token: WorkToken())
            #expect(try faces == search.faces() && faces.count == places.count)
            _ = try fixture.decode(ImageFixture.photo(width: 400, height: 300))
        }
    }

    @Test func `a search that does not fit its size is an error of the image`() throws {
        let fixture = try SandboxFixture()
        let search = try search([])
        let forged = FaceSearch(size: PixelSize(width: 1, height: 1), bytes: search.bytes)
        #expect(throws: ImagingError.self) { _ = try fixture.codec.faces(forged, token: WorkToken()) }
        #expect(try fixture.codec.faces(search, token: WorkToken()).isEmpty)
    }

    @Test(arguments: [PixelSize(width: 1, height: 1), PixelSize(width: 640, height: 70_000)])
    func `a request reads back as written`(size: PixelSize) {
        let request = WorkerRequest.perform(
            .findFaces(size), byteCount: 5, maximumResultBytes: 1, newMemories: [.input])
        #expect(WorkerRequest(request.message) == request)
    }
}
