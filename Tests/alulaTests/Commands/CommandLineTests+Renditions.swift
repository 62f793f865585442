import Memory
import Recipes
import TestSupport
import Testing

extension CommandLineTests {
    @Test func `several sizes come from one run, below the folders of their sources`() throws {
        folder.write("photos/a/cat.jpg", jpeg)
        folder.write("photos/dog.jpg", jpeg)
        let made = try run("thumbnail", "photos", "--recursive", "-w", "8,16", "-f", "png", "-o", "out")
        #expect(made.status == 0 && made.errors.isEmpty)
        let expected = ["out/a/cat-16.png", "out/a/cat-8.png", "out/dog-16.png", "out/dog-8.png"]
        #expect(made.lines.compactMap { $0.split(separator: " ").last.map(String.init) }.sorted() == expected)
        for (path, width) in zip(expected, [16, 8, 16, 8]) { #expect(try header(path).size.width == width) }
        let flat = try run(
            "thumbnail", "photos", "--recursive", "--flat", "--rendition", "name=s&w=8&format=webp", "--rendition",
            "w=9&h=9&fit=cover", "-f", "png", "-o", "flat/{rendition}/{dir}/{name}-{w}x{h}.{format}")
        #expect(flat.status == 0 && flat.errors.isEmpty)
        #expect(
            flat.lines.compactMap { $0.split(separator: " ").last.map(String.init) }.sorted()
                == ["flat/2/cat-9x9.png", "flat/2/dog-9x9.png", "flat/s/cat-8x6.webp", "flat/s/dog-8x6.webp"])
    }

    @Test func `a worker forked for one file decodes it as this process does`() throws {
        let fixtures: [ImageFixture] = [
            .jpeg, .jpegAdobeCMYK, .jpegOrientation6, .jpegSwappedPrimaries, .jpegTruncated, .jpegManyScans,
            .pngSixteenBit, .webpAnimated, .gifAnimated, .text,
        ]
        for fixture in fixtures {
            folder.write("image", fixture.bytes.array)
            let forked = try run("thumbnail", "image", "-w", "16", "-f", "png", "-o", "-")
            let own = try run(
                "thumbnail", "image", "-w", "16", "-f", "png", "-o", "-", "--decode-in-process", "on")
            #expect(forked.output == own.output && forked.errors == own.errors, "\(fixture)")
            #expect(forked.status == own.status, "\(fixture)")
        }
    }

    @Test func `a failed source is one line for all its renditions`() throws {
        folder.write("cat.txt", [1])
        let run = try run("thumbnail", "cat.txt", "-w", "8,16", "-o", "out/")
        #expect(run.status == 1 && run.errors == "alula: cat.txt: not an image\n")
        folder.write("list", Array("cat.txt\n".utf8))
        let batch = try self.run("batch", "list", "-w", "8,16", "-o", "out/", "--json")
        #expect(
            batch.lines.count == 3
                && batch.lines[1].hasPrefix(#"{"source":"cat.txt","rendition":"2","status":"failed""#))
    }

    @Test func `--resume works in any order of the list`() throws {
        for name in ["a/cat", "b/cat", "dog"] { folder.write("\(name).jpg", jpeg) }
        folder.write("list", Array("a/cat.jpg\nb/cat.jpg\n".utf8))
        #expect(try run("batch", "list", "-w", "8,9", "-o", "out").status == 0)
        folder.write("list", Array("dog.jpg\nb/cat.jpg\na/cat.jpg\n".utf8))
        let next = try run("batch", "list", "-w", "9,8", "-o", "out", "--resume")
        #expect(next.status == 0 && next.errors.hasPrefix("2 rendered, 4 skipped in "))
        #expect(next.lines.contains("b/cat.jpg -> out/cat-8-2.jpg (finished before)"))
        #expect(next.lines.contains("a/cat.jpg -> out/cat-9.jpg (finished before)"))
    }
}
