import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import ImageSandbox

/// Formats that only worker processes decode.
@Suite(.timeLimit(.minutes(3)))
struct SandboxedDrawingTests {
    @Test(.unlessSanitized("a thread of the sanitizer opens a file, which kills a worker"))
    func `a worker makes the same pixels as this process`() throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        let text = "<text y='30' font-size='24' font-weight='bold' font-family='serif'>Ag</text>"
        var samples = UnwrittenImages.all
        samples.append(("text", UnwrittenImages.svg("width='64' height='48'", text)))
        samples.append(("jxl", ImageFixture.photo(width: 201, height: 103, format: .jxl).array))
        for sample in samples {
            let file = SharedBytes(sample.file)
            let header = try ImageHeader.inspect(file)
            let plan = DecodePlan(drawnSize: header.vectorSize == nil ? nil : PixelSize(width: 640, height: 480))
            let expected = try InProcessCodec().decode(file, plan: plan)
            let image = try fixture.decode(file, plan: plan)
            #expect(image.description == expected.description, "\(sample.name)")
            #expect(image.pixels.array == expected.pixels.array, "\(sample.name)")
        }
        #expect(fixture.endCount == 0)
    }

    @Test func `groups of a huge drawing take memory only for the drawn part`() throws {
        let fixture = try SandboxFixture()
        let groups = "<g opacity='.5'><g opacity='.5'><rect width='64' height='48' fill='red' mask='url(#m)'/></g></g>"
        let mask = "<mask id='m'><rect width='64' height='48' fill='white'/></mask>"
        let file = SharedBytes(UnwrittenImages.svg("width='64' height='48'", mask + groups))
        let whole = PixelSize(width: 64, height: 48)
        let part = DrawnRegion(
            of: ImageRegion(allOf: whole), scaledTo: PixelSize(width: 1 << 22, height: 3 << 20), x: 1 << 21, y: 1 << 20)
        let plan = DecodePlan(drawnSize: PixelSize(width: 50, height: 40), drawnRegion: part)
        let image = try fixture.decode(file, plan: plan)
        #expect(image.size == plan.drawnSize)
        let expected = try InProcessCodec().decode(file, plan: plan)
        #expect(image.pixels.array == expected.pixels.array)
        #expect(fixture.ends(.forbiddenCall) + fixture.ends(.protocolError) == 0)
    }

    @Test(.unlessSanitized("a thread of the sanitizer opens a file, which kills a worker"))
    func `text that is too large for the fonts costs later drawings nothing`() throws {
        let fixture = try SandboxFixture()
        let text = "<text y='20' font-size='12'>Ag</text>"
        let file = SharedBytes(UnwrittenImages.svg("width='64' height='48'", text))
        let expected = try fixture.decode(file).pixels.array
        // Cairo 1.18 draws the text without error.
        var failures = 0
        for turn in 0..<4 {
            let size = PixelSize(width: 6_000 + turn, height: 4_500)
            do {
                _ = try fixture.decode(file, plan: DecodePlan(drawnSize: size))
            } catch {
                #expect(error is ImagingError)
                failures += 1
            }
            #expect(try fixture.decode(file).pixels.array == expected)
        }
        #expect(fixture.ends(.recycled) == failures && fixture.ends(.crash) == 0)
    }

    @Test(arguments: HostileDrawing.all)
    func `an expensive drawing is drawn or rejected in time`(sample: HostileDrawing.Sample) async throws {
        let fixture = try SandboxFixture()
        let file = SharedBytes(sample.file)
        let clock = ContinuousClock()
        let taken = await clock.measure {
            do {
                _ = try await SandboxFixture.onThread(timeLimit: .seconds(10)) { token in
                    try fixture.decode(file, token: token)
                }
            } catch is ImagingError {
            } catch is DeadlineExceeded {
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(taken < .seconds(20))
        #expect(fixture.ends(.forbiddenCall) + fixture.ends(.protocolError) == 0)
        // The next image is decoded.
        #expect(try fixture.decode(ImageFixture.jpeg.bytes).size == ImageFixture.size)
    }
}
