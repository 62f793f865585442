import Downloading
import HTTPTypes
import Testing
import ThumbnailTypes

@testable import Webhooks

/// Purge hooks: the escaping of their values, and the calls of a purge.
struct PurgeHookTests {
    private static let purge = PurgeReport(url: #"https://h/ä "b\.jpg?x=1&y={tag}"#, tags: ["a.b", "c-d"])

    /// A template, the context of its values, and the text for a purge.
    private static let texts: [(String, HookTemplate.Context, String)] = [
        ("/p?u={url}", .url, "/p?u=https%3A%2F%2Fh%2F%C3%A4%20%22b%5C.jpg%3Fx%3D1%26y%3D%7Btag%7D"),
        ("/p/{tag}/{tags}", .url, "/p/a.b/a.b,c-d"),
        ("{url}", .field, #"https://h/ä "b\.jpg?x=1&y={tag}"#),
        ("{tags}", .field, "a.b c-d"),
        (#"{"files":["{url}"]}"#, .json, #"{"files":["https://h/ä \"b\\.jpg?x=1&y={tag}"]}"#),
        (
            #"{"files":[{url}],"tags":{tags},"one":{tag}}"#, .json,
            #"{"files":["https://h/ä \"b\\.jpg?x=1&y={tag}"],"tags":["a.b","c-d"],"one":"a.b"}"#
        ),
        (#"{"\"{tags}":"\\","x":{tag}}"#, .json, #"{"\"a.b,c-d":"\\","x":"a.b"}"#),
        ("url={url}&t={tags}", .text, #"url=https://h/ä "b\.jpg?x=1&y={tag}&t=a.b,c-d"#),
        ("{urls} {} {Tag} {url", .text, "{urls} {} {Tag} {url"),
    ]

    @Test func `a purge is sent by sources or by tags, those of the sources included, several in each call`() throws {
        let sources = (0..<40).map { "http://h/\($0)" }
        let purge = CompletedPurge(sources: sources, tags: ["season"])
        func told(_ body: String, _ purge: CompletedPurge) throws -> [String] {
            let hook = try PurgeHook(url: "http://h/", body: body)
            return hook.reports(of: purge).flatMap { hook.calls(for: $0) }.map {
                String(decoding: $0.body, as: UTF8.self)
            }
        }
        #expect(try told("u={url}", purge) == sources.map { "u=" + $0 })
        let lists = try told("t={tags}", purge).map { $0.dropFirst(2).split(separator: ",").map(String.init) }
        #expect(lists.map(\.count) == [30, 11] && lists.joined().first == "season")
        #expect(lists.joined().dropFirst().elementsEqual(sources.map(CacheTag.ofSource)))
        #expect(try told("t={tag}", purge).count == 41 && told("all", purge) == ["all"])
        #expect(
            try told("u={url} {tags}", CompletedPurge(sources: ["x:y"])) == ["u=x:y \(CacheTag.ofSource(named: "x:y"))"]
        )
        #expect(try told("t={tag}", CompletedPurge(tags: ["season"])) == ["t=season"])
        #expect(
            try told("t={tag}", CompletedPurge()).isEmpty && told("u={url}", CompletedPurge()).isEmpty
                && told("all", CompletedPurge()) == ["all"])
    }

    @Test func `a hook for a purge of everything is not called after others`() throws {
        let hook = try PurgeHook(url: "http://h/", fields: [(.contentType, "text/plain")], isForEverythingOnly: true)
        #expect(hook.reports(of: CompletedPurge()).flatMap { hook.calls(for: $0) }.count == 1)
        #expect(hook.reports(of: CompletedPurge(sources: ["http://h/a"])).isEmpty)
        #expect(hook.reports(of: CompletedPurge(tags: ["season"])).isEmpty)
        #expect(throws: PurgeHook.Fault(member: "on", allowed: "any, for a hook with placeholders")) {
            try PurgeHook(url: "http://h/{tag}", isForEverythingOnly: true)
        }
    }

    @Test(arguments: texts)
    func `values are escaped for their context`(text: String, place: HookTemplate.Context, expected: String) {
        let filled = HookTemplate(text, in: place).filled(with: Self.purge, tag: "a.b")
        #expect(filled.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test func `a hook makes one call, or one for each tag`() throws {
        let once = try PurgeHook(
            url: "https://api.example/zones/1/purge?n=2", fields: [(.contentType, "application/json")],
            secrets: [(.authorization, Secret("Bearer {tag}"))], body: #"{"tags":{tags}}"#)
        let call = try #require(once.calls(for: Self.purge).first)
        #expect(once.calls(for: Self.purge).count == 1)
        #expect(call.method == .post && call.url == "https://api.example/zones/1/purge?n=2")
        #expect(call.fields == [.contentType: "application/json", .authorization: "Bearer {tag}"])
        #expect(String(decoding: call.body, as: UTF8.self) == #"{"tags":["a.b","c-d"]}"#)
        let each = try PurgeHook(url: "http://varnish/{tag}", method: "PURGE")
        #expect(each.calls(for: Self.purge).map(\.url) == ["http://varnish/a.b", "http://varnish/c-d"])
        #expect(each.calls(for: Self.purge).allSatisfy { $0.method.rawValue == "PURGE" && $0.body.isEmpty })
    }

    @Test func `a purge without a value calls only hooks that do not need it`() throws {
        let url = try PurgeHook(url: "http://h/?u={url}")
        let tags = try PurgeHook(url: "http://h/", body: "{tags}")
        let always = try PurgeHook(url: "http://h/all")
        for (purge, counts) in [
            (PurgeReport(), [0, 0, 1]), (PurgeReport(url: "x:y"), [1, 0, 1]), (PurgeReport(tags: ["a"]), [0, 1, 1]),
            (PurgeReport(url: "x:y", tags: ["a"]), [1, 1, 1]),
        ] {
            #expect([url, tags, always].map { $0.calls(for: purge).count } == counts, "\(purge)")
        }
    }

    @Test func `no value changes the destination or adds a line`() throws {
        // Servers would resolve these path segments.
        #expect(try PurgeHook(url: "http://h/purge/{tag}").calls(for: PurgeReport(tags: ["..", "."])).isEmpty)
        #expect(try PurgeHook(url: "http://h/purge/{url}/").calls(for: PurgeReport(url: "..")).isEmpty)
        let field = try PurgeHook(url: "http://h/", fields: [(.alulaReceipt, "{url}")])
        #expect(field.calls(for: PurgeReport(url: "http://h/a\r\nX: y")).isEmpty)
        #expect(field.calls(for: PurgeReport(url: "http://h/a")).count == 1)
        let long = PurgeReport(url: String(repeating: "/", count: PurgeHook.maximumURLBytes / 3))
        #expect(try PurgeHook(url: "http://h/?{url}").calls(for: long).isEmpty)
    }

    @Test func `the body's media type is sent, and guessed if it is not set`() throws {
        func type(_ body: String?, _ fields: [(name: HTTPField.Name, value: String)] = []) throws -> String? {
            try PurgeHook(url: "http://h/", fields: fields, body: body).calls(for: Self.purge).first?
                .fields[.contentType]
        }
        #expect(try type(" [\"{url}\"]") == "application/json")
        #expect(try type("{tags}") == "application/json")
        #expect(try type("tags: {tags}") == "text/plain; charset=utf-8")
        #expect(try type(nil) == nil)
        #expect(try type("{\"a\":{tags}}", [(.contentType, "application/vnd.x+json")]) == "application/vnd.x+json")
        #expect(try type("{", [(.contentType, "text/x-vcl")]) == "text/x-vcl")
    }

    @Test(arguments: [
        ("{url}", "POST", "", "url"), ("http://{tag}/", "POST", "", "url"), ("http://{tag}.h/", "POST", "", "url"),
        ("ftp://h/", "POST", "", "url"), ("http://u:p@h/", "POST", "", "url"), ("http://h/#a", "POST", "", "url"),
        ("/a", "POST", "", "url"), ("http://h/../{tag}", "POST", "", "url"), ("http://h/", "A B", "", "method"),
        ("http://h/", "", "", "method"), ("http://h/", "POST", "{\"a\":", "body"),
        ("http://h/", "POST", "{\"a\":\"{url}}", "body"), ("http://h?u={url}", "POST", "", "url"),
    ])
    func `a hook that can never be called as configured is rejected`(
        url: String, method: String, body: String, member: String
    ) {
        #expect {
            try PurgeHook(url: url, method: method, body: body.isEmpty ? nil : body)
        } throws: {
            ($0 as? PurgeHook.Fault)?.member == member
        }
    }
}
