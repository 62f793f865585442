import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Targets with extreme numbers are rejected as too large and never crash the process.
struct HostileSizesTests {
    private static let thin = PixelSize(width: 1, height: 9_000_000)

    private func plan(
        _ dialect: any Dialect, _ target: String, of size: PixelSize, addition: PixelSize
    ) throws -> RenderPlan {
        let request = try dialect.request(in: RequestedTarget(target))
        return try RenderPlan(
            for: request,
            of: PerSource(
                ImageHeader(format: .png, storedSize: size),
                additional: request.additional.map { _ in ImageHeader(format: .png, storedSize: addition) }),
            by: PipelineConfiguration())
    }

    private func thumbor() throws -> ThumborDialect {
        var configuration = ThumborConfiguration()
        configuration.prefix = PathPrefix("/t")
        return try #require(ThumborDialect(configuration))
    }

    @Test(
        arguments: [
            ("300x0/filters:image(/1000000x0/http://h/m.png,0,0)", thin),
            ("0x1000000/filters:image(fullx0/http://h/m.png,0,0)", PixelSize(width: 1, height: 65_535)),
            ("300x300/filters:image(/1000000x0/http://h/m.png,0,0)", PixelSize(width: 1, height: 16_000)),
            (
                "300x300/filters:image(/0x0:1x1/1000000x1000000/http://h/m.png,0,0)",
                PixelSize(width: 9_000, height: 9_000)
            ),
            ("300x300/filters:watermark(http://h/m.png,0,0,0,10000,none)", thin),
            ("300x300/filters:watermark(http://h/m.png,0,0,0,10000)", PixelSize(width: 1, height: 65_535)),
        ])
    func `oversized marks are rejected`(options: String, mark: PixelSize) throws {
        #expect(throws: ImagingError.self) {
            try plan(
                try thumbor(), "/t/unsafe/\(options)/http://h/a.png", of: PixelSize(width: 65_535, height: 1),
                addition: mark
            )
        }
    }

    @Test(arguments: ["stretch/1x1", "full-fit-in/1000000x1000000", "1000000x0", "0x1000000", "fit-in/1000000x0"])
    func `sources of extreme proportions are rejected or made small`(options: String) throws {
        do {
            let plan = try plan(
                try thumbor(), "/t/unsafe/\(options)/http://h/a.png", of: Self.thin, addition: Self.thin)
            #expect(plan.outputSize.width * plan.outputSize.height <= ImagingLimits().maximumOutputPixels)
        } catch is ImagingError {}
    }

    @Test(arguments: [
        "mod=1,1,-1e30", "mod=-1e38,-1e38,-1e38", "hue=-99999999999999999999", "sharp=-1e30", "gam=-1e30",
    ])
    func `very large negative numbers are bounded`(options: String) throws {
        let dialect = WsrvDialect(at: try #require(PathPrefix("/w")))
        _ = try? plan(
            dialect, "/w/?url=h/a.png&\(options)", of: PixelSize(width: 30, height: 20), addition: Self.thin)
        #expect(WsrvNumbers.fraction(Array("-1e30".utf8)[...]) == -10_000_000)
    }
}
