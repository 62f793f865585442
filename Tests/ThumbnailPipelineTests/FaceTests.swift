import Coordination
import DiskCaching
import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

@Suite(.timeLimit(.minutes(2)))
struct FaceTests {
    private static let size = PixelSize(width: 800, height: 400)
    private static let file = file([(620, 200, 150)])

    private static func file(_ places: [FaceDrawing.Place]) -> SharedBytes {
        SharedBytes(ImageFixture.file(FaceDrawing.image(size, bands: 3, places), as: .png))
    }

    private func fixture(diskFolder: String? = nil, objects: ObjectsInMemory? = nil) throws -> PipelineFixture {
        let detector = try #require(FaceDetector.installed)
        let fixture = try PipelineFixture(diskFolder: diskFolder, objects: objects, faceDetector: detector)
        fixture.origin.serve(Self.file, cacheControl: "max-age=100", eTag: "\"one\"")
        return fixture
    }

    private func request(
        _ width: Int, _ height: Int, change: (inout RenderingOptions) -> Void = { _ in }
    ) -> Request {
        var request = Request.path(format: .fixed(.png))
        request.options = options(width, height, .cover) { options in
            (options.gravity, options.format) = (.face, .fixed(.png))
            change(&options)
        }
        return request
    }

    private func searches(_ fixture: PipelineFixture) -> Int {
        let line = fixture.registry.prometheusText.split(separator: "\n").first {
            $0.hasPrefix("alula_face_searches_total ")
        }
        return line.flatMap { Int($0.split(separator: " ")[1]) } ?? -1
    }

    private func faces(_ fixture: PipelineFixture) async throws -> [Face]? {
        var requested = FactsRequest()
        requested.includesFaces = true
        return try await fixture.pipeline.facts(
            requested, for: Job(fixture.pipeline.resolved(.path()), receipt: "receipt")
        ).faces
    }

    /// Whether the dark eyes and mouth do not touch the left and right edges.
    private func isFaceWhole(_ thumbnail: Thumbnail) throws -> Bool {
        let image = try ImageReading.decode(thumbnail.image.bytes)
        let dark = (0..<image.size.width).filter { x in
            (0..<image.size.height).contains { image.pixel(x: x, y: $0)[0] < 60 }
        }
        return dark.first.map { $0 > 0 } == true && dark.last.map { $0 < image.size.width - 1 } == true
    }

    @Test func `a crop keeps the face, and a second request does not search again`() async throws {
        let fixture = try fixture()
        let square = try await fixture.thumbnail(of: request(200, 200))
        #expect(square.image.size == PixelSize(width: 200, height: 200))
        #expect(try isFaceWhole(square))
        #expect(searches(fixture) == 1)
        let other = try await fixture.thumbnail(of: request(150, 220))
        #expect(try isFaceWhole(other))
        _ = try await fixture.thumbnail(of: request(200, 200))
        #expect(searches(fixture) == 1 && fixture.origin.loads == 1)
    }

    @Test func `without a face the crop is that of attention`() async throws {
        let fixture = try fixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=100", eTag: "\"two\"")
        let faces = try await fixture.thumbnail(of: request(20, 30))
        let attention = try await fixture.thumbnail(of: request(20, 30) { $0.gravity = .attention })
        #expect(faces.image.bytes.array == attention.image.bytes.array && searches(fixture) == 1)
        #expect(try await self.faces(fixture) == [] && searches(fixture) == 1)
    }

    @Test func `one decode has the pixels of the result and those of the search`() async throws {
        let fixture = try fixture()
        let small = FaceDrawing.image(Self.size, bands: 3, [(620, 200, 150)])
        let large = SampleImage(PixelSize(width: 1_600, height: 800), bands: 3) { x, y in
            let start = (y / 2 * Self.size.width + x / 2) * 3
            return Array(small.pixels[start..<start + 3])
        }
        let file = SharedBytes(ImageFixture.file(large, as: .jpeg, quality: 90))
        fixture.origin.serve(file, cacheControl: "max-age=100", eTag: "\"large\"")
        let together = try await fixture.thumbnail(of: request(700, 700))
        #expect(fixture.decodes == 1 && searches(fixture) == 1)
        let other = try self.fixture()
        other.origin.serve(file, cacheControl: "max-age=100", eTag: "\"large\"")
        let found = try await faces(other)
        #expect(try await faces(fixture) == found && found?.count == 1)
        let apart = try await other.thumbnail(of: request(700, 700))
        #expect(other.decodes == 2 && apart.image.bytes.array == together.image.bytes.array)
    }

    @Test func `facts have the faces, which are searched for once`() async throws {
        let fixture = try fixture()
        let found = try #require(try await faces(fixture))
        #expect(found.count == 1 && found.allSatisfy { $0.isPlausible })
        #expect(abs(found[0].x + found[0].width / 2 - 7_750) < 300)
        #expect(try await faces(fixture) == found)
        _ = try await fixture.thumbnail(of: request(200, 200))
        #expect(searches(fixture) == 1 && fixture.origin.loads == 1)
    }

    @Test func `a disk keeps the faces for the next process`() async throws {
        let folder = TemporaryFolder()
        let first = try fixture(diskFolder: folder.path)
        let found = try await faces(first)
        await first.store?.shutDown(timeLimit: .seconds(5))
        let second = try fixture(diskFolder: folder.path)
        #expect(try await faces(second) == found && searches(second) == 0 && second.origin.loads == 0)
    }

    @Test func `a source that has changed is searched again`() async throws {
        let fixture = try fixture()
        let old = try await faces(fixture)
        fixture.origin.serve(Self.file([(180, 200, 150)]), cacheControl: "max-age=100", eTag: "\"two\"")
        fixture.time.clock.advance(by: .seconds(101))
        let new = try await faces(fixture)
        #expect(new != old && new?.count == 1 && searches(fixture) == 2)
    }

    @Test func `a revalidated source keeps its faces`() async throws {
        let fixture = try fixture()
        let old = try await faces(fixture)
        fixture.time.clock.advance(by: .seconds(101))
        #expect(try await faces(fixture) == old && searches(fixture) == 1 && fixture.origin.confirmations == 1)
    }

    @Test func `concurrent requests share one search`() async throws {
        let fixture = try fixture()
        async let one = fixture.thumbnail(of: request(200, 200))
        async let two = fixture.thumbnail(of: request(100, 180))
        async let three = faces(fixture)
        _ = try await (one, two, three)
        #expect(searches(fixture) == 1)
    }

    @Test func `uploads and sources that may not be stored are searched`() async throws {
        let fixture = try fixture()
        let opened = try await fixture.pipeline.open(upload: Self.file)
        for (width, height) in [(200, 200), (100, 190)] {
            let thumbnail = try await fixture.pipeline.thumbnail(
                for: Job(fixture.pipeline.resolved(request(width, height), of: opened), receipt: "receipt"))
            #expect(try isFaceWhole(thumbnail))
        }
        #expect(searches(fixture) == 1)
        let unstored = try await fixture.pipeline.thumbnail(
            for: Job(
                fixture.pipeline.resolved(request(200, 200)), directives: RequestCacheControl("no-store"),
                receipt: "receipt"))
        #expect(try isFaceWhole(unstored) && searches(fixture) == 2)
    }

    @Test(arguments: 1...8)
    func `orientation counts, as do crops and turns`(orientation: Int) async throws {
        let fixture = try fixture()
        let turn = try #require(QuarterTurn(exif: orientation))
        let upright = FaceDrawing.image(Self.size, bands: 3, [(620, 200, 150)])
        let stored = SampleImage(turn.inverse.turned(Self.size), bands: 3) { x, y in
            let place = turn.turned(
                ImageRegion(
                    x: x, y: y, size: PixelSize(width: 1, height: 1), of: turn.inverse.turned(Self.size)))
            let start = (place.y * Self.size.width + place.x) * 3
            return Array(upright.pixels[start..<start + 3])
        }
        let jpeg = JPEGWriter.oriented(ImageFixture.file(stored, as: .jpeg, quality: 95), orientation)
        fixture.origin.serve(SharedBytes(jpeg), cacheControl: "max-age=100", eTag: "\"\(orientation)\"")
        let found = try #require(try await faces(fixture))
        #expect(found.count == 1 && abs(found[0].x + found[0].width / 2 - 7_750) < 300, "\(found)")
        #expect(try isFaceWhole(await fixture.thumbnail(of: request(200, 200))))
        let turned = request(200, 200) { options in
            options.operations.rotation = 90
            options.operations.flip = .horizontal
        }
        #expect(try isFaceWhole(await fixture.thumbnail(of: turned)))
        let cropped = request(120, 200) { $0.operations.crop = .pixels(x: 300, y: 0, width: 500, height: 400) }
        #expect(try isFaceWhole(await fixture.thumbnail(of: cropped)))
        #expect(searches(fixture) == 1)
    }

    @Test func `a caller that has the source repeats the lost search of callers without it`() async throws {
        let fixture = try fixture()
        let job = Job(fixture.pipeline.resolved(.path()), receipt: "receipt")
        let opened = try await fixture.pipeline.open(for: job)
        defer { fixture.pipeline.close(opened) }
        let searches = fixture.pipeline.renderer.faceFinder.searches
        let losing = Gate()
        let loser = Task {
            try await searches.value(for: opened.record.version) {
                await losing.pass()
                throw PipelineError.missingBytes
            }
        }
        await losing.arrivals(1)
        let caller = Task { try await fixture.pipeline.renderer.faces(in: opened, for: job) }
        try #require(await eventually { searches.waiterCount(for: opened.record.version) == 2 })
        losing.open()
        await #expect(throws: PipelineError.missingBytes) { _ = try await loser.value }
        #expect(try await caller.value.count == 1)
        #expect(self.searches(fixture) == 1)
    }
}
