import Downloading
import Recipes
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import Commands
@testable import Settings

struct RenderingArgumentsTests {
    private let folder = TemporaryFolder()

    private func options(
        _ arguments: [String], output: String, hasSeveralResults: Bool = false
    ) throws -> RenderingArguments {
        try RenderingArguments(
            try CommandArguments(arguments, for: ThumbnailCommand.description).parameters, output: output,
            hasSeveralResults: hasSeveralResults, settings: Settings())
    }

    @Test(arguments: [
        ("a.jpg", ImageFormat.jpeg), ("a.JPEG", .jpeg), ("a.webp", .webp), ("x/a.b.avif", .avif), ("a.jxl", .jxl),
    ])
    func `the ending of a file decides on the format`(_ path: String, _ format: ImageFormat) throws {
        let options = try options([], output: path)
        #expect(options.request.ownOptions?.format == .fixed(format))
        #expect(options.place == .file(path))
    }

    @Test func `an option wins over the ending`() throws {
        #expect(try options(["--format", "png"], output: "a.webp").request.ownOptions?.format == .fixed(.png))
        #expect(try options(["--format", "auto"], output: "a.xyz").request.ownOptions?.format == .negotiated([:]))
    }

    @Test func `an ending that no result has is wrong use`() {
        for path in ["a.xyz", "a.tiff"] {
            #expect(throws: WrongUse.self) { try options([], output: path) }
        }
    }

    @Test func `a folder is one that is there, that ends in a slash, or that several results need`() throws {
        #expect(try options([], output: folder.path).place == .folder(folder.path))
        #expect(try options([], output: "new/").place == .folder("new/"))
        #expect(throws: WrongUse.self) { try options([], output: "new.png", hasSeveralResults: true) }
        #expect(try options([], output: "new/").request.ownOptions?.format == .negotiated([:]))
        folder.write("file", [1])
        #expect(throws: WrongUse.self) { try options([], output: "\(folder.path)/file", hasSeveralResults: true) }
        #expect(throws: WrongUse.self) { try options([], output: "-", hasSeveralResults: true) }
    }

    @Test func `a pattern that hits one file means the same as one that hits two`() throws {
        for hasSeveralResults in [false, true] {
            #expect(try options([], output: "out", hasSeveralResults: hasSeveralResults).place == .folder("out"))
            #expect(
                try options(["--format", "jpg"], output: "a/out", hasSeveralResults: hasSeveralResults).place
                    == .folder("a/out"))
            #expect(try options([], output: ".png", hasSeveralResults: hasSeveralResults).place == .folder(".png"))
        }
    }

    @Test func `the results of a list go to a folder, whatever its name`() throws {
        let options = try RenderingArguments(
            [], output: "out.d", hasSeveralResults: true, isFromList: true, settings: Settings())
        #expect(options.place == .folder("out.d"))
    }

    @Test func `a watermark may be a file`() throws {
        folder.write("logo.png", [1, 2])
        var settings = Settings()
        let path = folder.path + "/logo.png"
        let opened = try WatermarkFile.open([("w", "3"), ("watermark", path)], for: &settings)
        #expect(opened[0].value == "3" && opened[1].value.hasPrefix("watermark-file:"))
        #expect(settings.downloads.origins.all.count == 1)
        for value in ["https://example.com/logo.png", folder.path + "/gone.png", "logo"] {
            let kept = try WatermarkFile.open([("watermark", value)], for: &settings)
            #expect(kept.map(\.value) == [value])
        }
    }

    @Test func `a folder is made with those around it`() throws {
        let path = folder.path + "/a/b/c/"
        try options([], output: path).makeFolder()
        #expect(FilePath.isFolder(path))
        folder.write("file", [1])
        #expect(throws: CommandFailure.self) { try options([], output: folder.path + "/file/x/").makeFolder() }
    }
}
