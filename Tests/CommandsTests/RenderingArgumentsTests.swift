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
        _ arguments: [String], output: String, hasSeveralSources: Bool = false
    ) throws -> RenderingArguments {
        let arguments = try CommandArguments(arguments, for: ThumbnailCommand.description)
        return try RenderingArguments(
            arguments.parameters, queries: arguments.values(of: Rendition.option), output: output,
            hasSeveralSources: hasSeveralSources, settings: Settings())
    }

    @Test(arguments: [
        ("a.jpg", ImageFormat.jpeg), ("a.JPEG", .jpeg), ("a.webp", .webp), ("x/a.b.avif", .avif), ("a.jxl", .jxl),
    ])
    func `the extension of a file determines the format`(_ path: String, _ format: ImageFormat) throws {
        let options = try options([], output: path)
        #expect(options.renditions[0].request.nativeOptions?.format == .fixed(format))
        #expect(options.output == .file(path))
    }

    @Test func `an option overrides the extension`() throws {
        #expect(
            try options(["--format", "png"], output: "a.webp").renditions[0].request.nativeOptions?.format
                == .fixed(.png))
        #expect(
            try options(["--format", "auto"], output: "a.xyz").renditions[0].request.nativeOptions?.format
                == .negotiated([:]))
    }

    @Test func `an extension without a format is a usage error`() {
        for path in ["a.xyz", "a.tiff"] {
            #expect(throws: UsageError.self) { try options([], output: path) }
        }
    }

    @Test func `a folder exists, ends in a slash, or is required by several results`() throws {
        #expect(try options([], output: folder.path).output == .folder(folder.path))
        #expect(try options([], output: "new/").output == .folder("new/"))
        #expect(throws: UsageError.self) { try options([], output: "new.png", hasSeveralSources: true) }
        #expect(try options([], output: "new/").renditions[0].request.nativeOptions?.format == .negotiated([:]))
        folder.write("file", [1])
        #expect(throws: UsageError.self) { try options([], output: "\(folder.path)/file", hasSeveralSources: true) }
        #expect(throws: UsageError.self) { try options([], output: "-", hasSeveralSources: true) }
    }

    @Test func `a pattern that matches one file means the same as one that matches two`() throws {
        for hasSeveralSources in [false, true] {
            #expect(try options([], output: "out", hasSeveralSources: hasSeveralSources).output == .folder("out"))
            #expect(
                try options(["--format", "jpg"], output: "a/out", hasSeveralSources: hasSeveralSources).output
                    == .folder("a/out"))
            #expect(try options([], output: ".png", hasSeveralSources: hasSeveralSources).output == .folder(".png"))
        }
    }

    @Test func `the results of a list are in a folder, unless its name is that of an image`() throws {
        let options = try RenderingArguments(
            [], output: "out.d", hasSeveralSources: true, isFromList: true, settings: Settings())
        #expect(options.output == .folder("out.d"))
        #expect(throws: UsageError.self) {
            try RenderingArguments(
                [], output: "out.webp", hasSeveralSources: true, isFromList: true, settings: Settings())
        }
    }

    @Test func `a list of widths makes a rendition of each, named by its width`() throws {
        let options = try options(["-w", "300,600", "-q", "70", "-f", "webp"], output: "out/")
        #expect(options.renditions.map(\.name) == ["1", "2"])
        #expect(options.renditions.map { $0.sides[.w] } == ["300", "600"])
        #expect(options.renditions.allSatisfy { $0.request.nativeOptions?.format == .fixed(.webp) })
        #expect(options.pattern.text == "{dir}/{name}-{w}.{format}" && options.output == .folder("out/"))
        for widths in ["300,", "300,300", "300,x", ","] {
            #expect(throws: UsageError.self) { try self.options(["--w", widths], output: "out/") }
        }
        #expect(throws: UsageError.self) { try self.options(["--w", "3,4"], output: "out.png") }
    }

    @Test func `renditions have names and options of their own`() throws {
        let options = try options(
            ["--h", "9", "--rendition", "name=hero&w=1200&format=avif", "--rendition", "width=300&h=5"], output: "out/")
        #expect(options.renditions.map(\.name) == ["hero", "2"])
        #expect(options.renditions.map { $0.sides[.h] } == ["9", "5"])
        #expect(options.renditions.map { $0.sides[.w] } == ["1200", "300"])
        #expect(options.pattern.text == "{dir}/{name}-{rendition}.{format}")
        for queries in [["name=a", "name=a"], ["name=../x"], ["w=3&x=1"], ["name="], ["w=3,4"]] {
            let arguments = queries.flatMap { ["--rendition", $0] }
            #expect(throws: UsageError.self) { try self.options(arguments, output: "out/") }
        }
        #expect(throws: UsageError.self) { try self.options(["-w", "3,4", "--rendition", "h=3"], output: "out/") }
    }

    @Test func `a pattern names the results below the folder before it`() throws {
        let options = try options(["-w", "3"], output: "a/b/{dir}/{name}_{w}.webp")
        #expect(options.output == .folder("a/b/") && options.pattern.text == "{dir}/{name}_{w}.webp")
        #expect(options.renditions[0].request.nativeOptions?.format == .fixed(.webp))
        #expect(try self.options([], output: "{name}.{format}").output == .folder("./"))
        for output in ["a/{nam}.webp", "a/{name", "a/{name}", "a/{name}.txt"] {
            #expect(throws: UsageError.self) { try self.options([], output: output) }
        }
    }

    @Test func `a watermark may be a file`() throws {
        folder.write("logo.png", [1, 2])
        var settings = Settings()
        let path = folder.path + "/logo.png"
        let opened = try WatermarkFile.open([("w", "3"), ("watermark", path)], for: &settings).parameters
        #expect(opened[0].value == "3" && opened[1].value.hasPrefix("watermark-"))
        #expect(settings.downloads.origins.all.count == 1)
        folder.write("mark 2.png", [3])
        let query = "w=9&watermark=\(folder.path)/mark%202.png&watermarkScale=0.2"
        let queries = try WatermarkFile.open([], queries: ["w=9", query, "watermark=\(path)"], for: &settings).queries
        #expect(queries[0] == "w=9" && queries[1].hasPrefix("w=9&watermark=watermark-"))
        #expect(queries[1].hasSuffix("&watermarkScale=0.2") && queries[2] != queries[1])
        #expect(settings.downloads.origins.all.count == 2)
        for value in ["https://example.com/logo.png", folder.path + "/gone.png", "logo"] {
            let kept = try WatermarkFile.open([("watermark", value)], queries: ["watermark=\(value)"], for: &settings)
            #expect(kept.parameters.map(\.value) == [value] && kept.queries.count == 1)
        }
    }

    @Test func `a folder is created with its parents`() throws {
        let path = folder.path + "/a/b/c/"
        try options([], output: path).makeFolder()
        #expect(FilePath.isFolder(path))
        folder.write("file", [1])
        #expect(throws: CommandFailure.self) { try options([], output: folder.path + "/file/x/").makeFolder() }
    }
}
