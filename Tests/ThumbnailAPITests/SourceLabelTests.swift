import Testing

@testable import ThumbnailAPI

@Suite struct SourceLabelTests {
    @Test(arguments: [
        ("https://example.com/a.jpg?token=secret#x", "example.com/a.jpg"),
        ("https://user:secret@example.com:8080/@me/a.jpg", "example.com:8080/@me/a.jpg"),
        ("https://a@b@example.com/", "example.com/"),
        ("https://user:secret@example.com?x", "example.com"),
        ("https:/user:secret@example.com/a", "example.com/a"),
        ("user:secret@example.com/a?b", "example.com/a"),
        ("http:\\\\user:secret@example.com", "example.com"),
        ("shop:a/b.png?c=d", "shop:a/b.png"),
        ("shop:a/http://u:p@h/", "h/"),
        ("", ""),
    ])
    func `neither user, query nor fragment is logged`(source: String, label: String) {
        #expect(SourceLabel.text(source) == label)
    }
}
