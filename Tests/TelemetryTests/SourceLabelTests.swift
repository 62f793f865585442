import Telemetry
import Testing

@Suite struct SourceLabelTests {
    @Test(arguments: [
        ("https://h/a", "https://h/a"), ("https://user:sec@h:81/a?b#c", "https://h:81/a?***"),
        ("photos:a/b", "photos:a/b"),
        ("sec@h://x", "h://x"), ("Alula/1 (+https://h/bot)", "Alula/1 (+https://h/bot)"),
    ])
    func `a URL keeps its scheme`(source: String, url: String) { #expect(SourceLabel.url(source) == url) }

    @Test(arguments: [
        ("https://example.com/a.jpg?token=secret#x", "example.com/a.jpg"),
        ("https://user:secret@example.com:8080/@me/a.jpg", "example.com:8080/@me/a.jpg"),
        ("https://a@b@example.com/", "example.com/"),
        ("https://user:secret@example.com?x", "example.com"),
        ("https://[2001:db8::1]:8080/a:b.jpg", "[2001:db8::1]:8080/a:b.jpg"),
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

    @Test(arguments: [
        // Passwords with characters that end an authority.
        ("https://user:sec/ret@example.com/a", "example.com/a"), ("https://user:sec?ret@example.com/a", "***"),
        ("https://user:sec#ret@example.com/a", "***"), ("https://user:sec\\ret@example.com/a", "example.com/a"),
        ("user:sec?ret@example.com/a", "***"), ("https:///user:secret@example.com/a", "example.com/a"),
        // At signs and colons that are percent-encoded once or several times.
        ("https://user:secret%40example.com/a", "example.com/a"), ("https://secret%2540example.com/a", "example.com/a"),
        ("https%3A%2F%2Fuser%3Asecret%40example.com/a", "example.com/a"),
        ("https%253A%252F%252Fuser%253Asecret%2540example.com", "example.com"),
        ("https://user%3Asec/ret@example.com/a", "example.com/a"),
        // URLs within URLs.
        ("https://proxy.example/https://user:secret@example.com/a", "proxy.example/***example.com/a"),
        ("https://proxy.example/https%3A%2F%2Fuser%3Asecret%40example.com/a", "proxy.example/***example.com/a"),
        ("https://proxy.example/https://user:sec?ret@example.com/a", "proxy.example/***"),
    ])
    func `a password is not logged in any spelling`(source: String, label: String) {
        #expect(SourceLabel.text(source) == label)
        #expect(!SourceLabel.text(source).contains("sec"))
    }
}
