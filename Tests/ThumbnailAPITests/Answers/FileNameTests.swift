import Recipes
import Testing

@testable import ThumbnailAPI

@Suite struct FileNameTests {
    @Test(arguments: [
        ("https://example.com/a/photo.png", "inline; filename=\"photo.jpg\""),
        ("https://example.com/a/photo.tar.gz?x=/b.c#/d.e", "inline; filename=\"photo.tar.jpg\""),
        ("https://example.com/photo", "inline; filename=\"photo.jpg\""),
        ("https://example.com/my%20photo(1).png", "inline; filename=\"my photo(1).jpg\""),
        ("shop:articles/1234.png", "inline; filename=\"1234.jpg\""),
        ("shop:1234.png", "inline; filename=\"1234.jpg\""),
        ("https://example.com/", "inline; filename=\"image.jpg\""),
        ("https://example.com", "inline; filename=\"image.jpg\""),
        ("https://example.com/..%2F..%2Fetc%2Fpasswd", "inline; filename=\"image.jpg\""),
        ("https://example.com/.htaccess", "inline; filename=\"htaccess.jpg\""),
        ("https://example.com/---.png", "inline; filename=\"image.jpg\""),
        ("https://example.com/a%22;%0d%0aSet-Cookie:%20b=c;%5c.png", "inline; filename=\"aSet-Cookie b=c.jpg\""),
        ("https://example.com/100%25.png", "inline; filename=\"100.jpg\""),
        ("https://example.com/bad%ff%zz.png", "inline; filename=\"badffzz.jpg\""),
        (
            "https://example.com/caf%C3%A9%E2%80%AEgnp.exe.png",
            "inline; filename=\"caf_gnp.exe.jpg\"; filename*=UTF-8''caf%C3%A9gnp.exe.jpg"
        ),
        ("https://example.com/写真.png", "inline; filename=\"image.jpg\"; filename*=UTF-8''%E5%86%99%E7%9C%9F.jpg"),
        ("", "inline; filename=\"image.jpg\""),
    ])
    func `a file is named after its source, without characters that break the field`(source: String, value: String) {
        #expect(FileName(source: source).contentDisposition(.jpeg) == value)
    }

    @Test func `a long name is truncated`() {
        let name = FileName(source: "https://h/" + String(repeating: "a", count: 2_000) + ".png")
        #expect(name.contentDisposition(.png).utf8.count < 150)
    }

    @Test(arguments: [
        ("https://example.com/a/cat.jpg", "cat"), ("https://example.com/", "image"), ("media:a/b.c.png", "b.c"),
        ("https://example.com/k%C3%A4tzchen.jpg", "kätzchen"), ("https://example.com/%2e%2e", "image"),
    ])
    func `a file is named after the source`(_ source: String, _ stem: String) {
        #expect(FileName(source: source).stem == stem)
    }
}
