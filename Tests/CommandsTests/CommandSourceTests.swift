import Downloading
import TestSupport
import Testing

@testable import Commands

struct CommandSourceTests {
    @Test func `URLs, named origins, standard input and files are distinguished`() {
        let origins = Origins([Origin(name: "media", location: .memory([1]))])
        func source(_ text: String) -> CommandSource { CommandSource(text, origins: origins) }
        #expect(source("-") == .standardInput)
        #expect(source("https://example.com/a.jpg") == .remote("https://example.com/a.jpg"))
        #expect(source("ftp://example.com/a.jpg") == .remote("ftp://example.com/a.jpg"))
        #expect(source("media:a.jpg") == .remote("media:a.jpg"))
        #expect(source("other:a.jpg") == .file("other:a.jpg"))
        #expect(source("./media:a.jpg") == .file("./media:a.jpg"))
        #expect(source("a://b") == .remote("a://b"))
    }

    @Test(arguments: [
        (CommandSource.file("photos/cat.jpg"), "cat"), (.file("cat.of.ours.jpg"), "cat.of.ours"),
        (.file(".cat"), ".cat"),
        (.file("/"), "image"), (.standardInput, "image"), (.remote("https://example.com/a/cat.jpg?x=/y.png"), "cat"),
        (.remote("https://example.com"), "image"), (.remote("https://example.com/%2e%2e%2fpasswd"), "passwd"),
        (.remote("https://example.com/k%C3%A4tzchen.jpg"), "kätzchen"),
    ])
    func `results are named after their sources`(_ source: CommandSource, _ stem: String) {
        #expect(source.stem == stem)
    }

    @Test func `the stem of a URL never leaves its folder`() {
        for path in ["..", "%2e%2e", "a%2f..%2f..%2fb", "%00", "%0a", "~", "-rf"] {
            let stem = CommandSource.remote("https://example.com/" + path).stem
            #expect(!stem.utf8.contains(UInt8(ascii: "/")) && !stem.hasPrefix(".") && !stem.isEmpty)
        }
    }

    @Test func `folders contribute their images, in the order of their names`() {
        let folder = TemporaryFolder()
        let jpeg = ImageFixture.jpeg.array
        folder.write("b.jpg", jpeg)
        folder.write("a.JPG", [])
        folder.write("notes.txt", Array("hello".utf8))
        folder.write("nameless", jpeg)
        folder.write(".hidden.jpg", jpeg)
        folder.write("inner/c.png", jpeg)
        folder.link("inner/round", to: folder.path)
        func paths(_ isRecursive: Bool) -> [String] {
            SourceList.expanded([.file(folder.path), .standardInput], isRecursive: isRecursive).sources.map {
                String($0.source.text.dropFirst(folder.path.utf8.count + 1))
            }
        }
        #expect(paths(false) == ["a.JPG", "b.jpg", "nameless", ""])
        #expect(paths(true) == ["a.JPG", "b.jpg", "nameless", "inner/c.png", ""])
    }

    @Test func `a list has one source per line, and comments`() throws {
        let text = "\u{feff}# photos\na.jpg\r\n\n  b c.jpg\t\n#d.jpg\nhttps://example.com/a#b"
        #expect(try BatchList.sources(in: Array(text.utf8)) == ["a.jpg", "b c.jpg", "https://example.com/a#b"])
        #expect(try BatchList.sources(in: []) == [])
    }

    @Test func `a missing list is reported`() {
        #expect(throws: CommandFailure(code: "no_such_file", reason: "/nowhere/list: no such file or directory")) {
            try BatchList.blockingRead("/nowhere/list")
        }
    }
}
