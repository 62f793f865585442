import TestSupport
import Testing
import Text

@testable import Downloading

/// Parsing of `NAME:PATH`.
struct OriginIdentityTests {
    @Test(arguments: [
        ("http://h/foo", "bar", "http://h/foo/bar"), ("http://h/foo", "/bar", "http://h/foo/bar"),
        ("http://h/foo/", "bar", "http://h/foo/bar"), ("http://h", "bar", "http://h/bar"),
        ("http://h/foo/", "/bar", "http://h/foo/bar"), ("http://h/foo", "/", "http://h/foo/"),
        ("http://h", ".evil.example/a", "http://h/.evil.example/a"), ("http://h:8", "0/a", "http://h:8/0/a"),
        ("http://h", "@evil.example/a", "http://h/@evil.example/a"),
        ("http://h/foo", "", "http://h/foo/"), ("http://h/foo", "a/b.jpg", "http://h/foo/a/b.jpg"),
        ("http://h/foo", "bar?x=1", "http://h/foo/bar?x=1"), ("http://h/foo", "bar#part", "http://h/foo/bar"),
        ("http://h/foo", "bar?x=1#part", "http://h/foo/bar?x=1"), ("http://h/foo", "bar#part?x=1", "http://h/foo/bar"),
        ("https://h:8443/foo", "bar", "https://h:8443/foo/bar"),
        ("http://h/foo", "a b.jpg", "http://h/foo/a%20b.jpg"), ("http://h/foo", "ü", "http://h/foo/%C3%BC"),
        ("http://h/foo", "a%20b", "http://h/foo/a%20b"), ("http://h/foo", "a:b@c", "http://h/foo/a:b@c"),
        ("http://10.0.0.1:81", "http://h/a", "http://10.0.0.1:81/http://h/a"),
    ])
    func `a path is joined to its origin's base`(base: String, path: String, expected: String) throws {
        let identity = try identity(base, path)
        #expect(identity.url.canonical == expected)
        #expect(identity.originName == "photos")
    }

    @Test(arguments: [
        ("http://h/foo", "bar", "photos:bar"), ("http://h/foo/", "a b.jpg", "photos:a%20b.jpg"),
        ("http://h", "a/b?x=1&y#part", "photos:a/b?x=1&y"), ("http://h/foo", "", "photos:"),
        ("http://h/foo", "?x", "photos:?x"), ("http://h/foo", "ü%20", "photos:%C3%BC%20"),
        ("http://h/foo", "a//b", "photos:a//b"), ("http://10.0.0.1:81", "http://h/a", "photos:http://h/a"),
    ])
    func `the displayed name is one that can be requested`(base: String, path: String, name: String) throws {
        let identity = try identity(base, path)
        #expect(identity.name == name)
        let again = try origins(base).identity(of: ExactText(name))
        #expect(again == identity && again.name == name)
    }

    @Test func `sources of S3, folders and the web are displayed by names that can be requested`() throws {
        for path in ["a b.jpg", "a+b%2Bc?b=2&a=x y", "ü/é~.jpg"] {
            let identity = try signed(path)
            let again = try signed(String(identity.name.dropFirst("bucket:".count)))
            #expect(identity.name.hasPrefix("bucket:") && again == identity && again.name == identity.name)
        }
        let folder = DownloadRules(
            DownloadConfiguration(origins: [Origin(name: "local", location: .folder(path: "/srv"))]))
        for path in ["a.jpg", "a/b c.jpg", "100%.png", "a?b#c", "ü%2f", "...", "a%20b", "100%25.png", "a%2523b"] {
            let identity = try folder.identity(of: "local:\(path)")
            #expect(identity.name == "local:\(path.replacing("%25.", with: "%."))")
            #expect(try folder.identity(of: ExactText(identity.name)) == identity)
        }
        #expect(try folder.identity(of: "HTTP://H:80/a?b#c").name == "http://h/a?b")
    }

    @Test func `a source is displayed without its ignored parameters`() throws {
        var origin = Origin(name: "photos", location: .web(base: try SourceURL(parsing: "http://h/foo")))
        origin.ignoredParameters = ["token"]
        #expect(
            try DownloadRules(DownloadConfiguration(origins: [origin])).identity(of: "photos:a?token=1&w=2").name
                == "photos:a?w=2")
    }

    @Test func `names of origins are found by location`() throws {
        let places: [Origin.Location] = [
            .web(base: try SourceURL(parsing: "https://h/a")), .folder(path: "/srv"),
            .web(base: try SourceURL(parsing: "https://h/b")),
        ]
        let origins = Origins(zip(["one", "local", "two"], places).map { Origin(name: $0, location: $1) })
        #expect(origins.namesByKey[try SourceURL(parsing: "https://h/").origin] == ["one", "two"])
        let folder = try DownloadRules(DownloadConfiguration(origins: origins.all)).identity(of: "local:x").url.origin
        #expect(origins.namesByKey[folder] == ["local"] && folder.description == "local:")
    }

    @Test(arguments: ["//evil/a", "\\\\evil/a", "a\u{0}b", "a\u{a}b", "/\\evil", "a\u{7f}"])
    func `no path leads to another location`(path: String) {
        #expect(throws: SourceURLError.self) { try identity("http://h/foo", path) }
    }

    @Test(arguments: ["../bar", "a/../bar", ".", "/../bar", "%2e%2e/bar", "a/..%2fbar", "a/..%5Cbar"])
    func `no path leads above the origin's base`(path: String) {
        #expect(throws: SourceURLError.pathNotAllowed) { try identity("http://h/foo", path) }
        #expect(throws: SourceURLError.pathNotAllowed) { try signed(path) }
        #expect(throws: SourceURLError.pathNotAllowed) {
            try DownloadRules(DownloadConfiguration(origins: [Origin(name: "local", location: .folder(path: "/srv"))]))
                .identity(of: "local:\(path)")
        }
    }

    @Test func `a parameter is ignored by the bytes of its name`() throws {
        var origin = Origin(name: "photos", location: .web(base: try SourceURL(parsing: "http://h/")))
        origin.ignoredParameters = ["Key"]
        let origins = DownloadRules(DownloadConfiguration(origins: [origin]))
        #expect(try origins.identity(of: "photos:a?Key=1").url.canonical == "http://h/a")
        #expect(try origins.identity(of: "photos:a?\u{212a}ey=1").url.canonical == "http://h/a?%E2%84%AAey=1")
    }

    @Test(arguments: ["unknown:bar", "Photos:bar", "photos", "photos/bar", ":bar", "file:/etc/passwd"])
    func `a name of no origin is not a source`(source: String) {
        #expect(throws: SourceURLError.self) { try origins("http://h/").identity(of: ExactText(source)) }
    }

    @Test func `an absolute URL belongs to no origin, even one of its own host`() throws {
        let identity = try origins("http://h/").identity(of: "http://h/bar")
        #expect(identity.originName == nil)
    }

    @Test(arguments: [
        ("a?token=1&w=2", "a?w=2"), ("a?w=2&token=1&v", "a?w=2&v"), ("a?token=1", "a"), ("a?tokens=1", "a?tokens=1"),
        ("a?v=token", "a?v=token"), ("a", "a"), ("a?token", "a"),
    ])
    func `ignored parameters are sent, and do not distinguish sources`(path: String, key: String) throws {
        var origin = Origin(name: "photos", location: .web(base: try SourceURL(parsing: "http://h/")))
        origin.ignoredParameters = ["token"]
        let identity = try DownloadRules(DownloadConfiguration(origins: [origin])).identity(of: "photos:\(path)")
        #expect(identity.url.canonical == "http://h/" + key)
        #expect(identity.target.canonical == "http://h/" + path)
        #expect(identity == SourceIdentity(url: try SourceURL(parsing: "http://h/" + key), rules: identity.rules))
        #expect(identity != SourceIdentity(url: identity.url))
    }

    @Test(arguments: [
        ("a b.jpg", "/bucket/a%20b.jpg"), ("a+b", "/bucket/a%2Bb"), ("a%2Bb", "/bucket/a%2Bb"),
        ("ü/é~.jpg", "/bucket/%C3%BC/%C3%A9~.jpg"), ("a(1)*'!.jpg", "/bucket/a%281%29%2A%27%21.jpg"),
        ("a?b=2&a=1", "/bucket/a?a=1&b=2"), ("a?versionId", "/bucket/a?versionId="),
        ("a?b=x y&b=x+y&B=%c3%bc", "/bucket/a?B=%C3%BC&b=x%20y&b=x%2By"), ("a%2fb", "/bucket/a/b"),
        ("/other/key", "/bucket/other/key"), ("%2fother/key", "/bucket//other/key"),
    ])
    func `a signed path has one spelling`(path: String, expected: String) throws {
        #expect(try signed(path).url.canonical == "http://h" + expected)
    }

    @Test(arguments: ["//other/key", "a%zz", "a?b=%f"])
    func `a signed path stays in its bucket`(path: String) {
        #expect(throws: SourceURLError.self) { try signed(path) }
    }

    @Test(arguments: [
        ("a.jpg", "folder://local/a.jpg"), ("/a/b c.jpg", "folder://local/a/b%20c.jpg"),
        ("100%.png", "folder://local/100%25.png"), ("a?b#c", "folder://local/a%3Fb%23c"),
        ("...", "folder://local/..."), ("a%20b", "folder://local/a%2520b"),
        // Front-end frameworks write these paths like this.
        ("a%3Fb%23c.jpg", "folder://local/a%3Fb%23c.jpg"), ("100%25.png", "folder://local/100%25.png"),
        ("a%2Bb%2520c", "folder://local/a%2Bb%2520c"), ("a%3A%2fb", "folder://local/a%3A%252fb"),
    ])
    func `a file keeps its exact name`(path: String, expected: String) throws {
        let origins = DownloadRules(
            DownloadConfiguration(origins: [Origin(name: "local", location: .folder(path: "/srv"))]))
        #expect(try origins.identity(of: "local:\(path)").url.canonical == expected)
    }

    @Test(arguments: ["", "/", "a/../../b", "a?/../b", "a//b", "a/", "a\u{0}", "//etc"])
    func `no name leads out of the folder`(path: String) {
        let origins = DownloadRules(
            DownloadConfiguration(origins: [Origin(name: "local", location: .folder(path: "/srv"))]))
        #expect(throws: SourceURLError.self) { try origins.identity(of: "local:\(path)") }
    }

    @Test func `missing files and folders are reported before the start`() throws {
        let folder = TemporaryFolder()
        folder.write("ca.pem", [1])
        var web = Origin(name: "web", location: .web(base: try SourceURL(parsing: "https://h/")))
        web.certificateAuthorities = folder.path + "/ca.pem"
        try Origins([web, Origin(name: "local", location: .folder(path: folder.path))]).checkFiles()
        for missing in [folder.path + "/none", folder.path + "/ca.pem"] {
            #expect(throws: Origins.Unusable(origin: "local", problem: "\(missing) cannot be read")) {
                try Origins([web, Origin(name: "local", location: .folder(path: missing))]).checkFiles()
            }
        }
        web.certificateAuthorities = folder.path + "/none.pem"
        #expect(throws: Origins.Unusable(origin: "web", problem: "\(folder.path)/none.pem cannot be read")) {
            try Origins([web]).checkFiles()
        }
    }

    private func origins(_ base: String) throws -> DownloadRules {
        let photos = Origin(name: "photos", location: .web(base: try SourceURL(parsing: base)))
        return DownloadRules(DownloadConfiguration(origins: [photos]))
    }

    private func identity(_ base: String, _ path: String) throws -> SourceIdentity {
        try origins(base).identity(of: "photos:\(path)")
    }

    private func signed(_ path: String) throws -> SourceIdentity {
        var origin = Origin(name: "bucket", location: .web(base: try SourceURL(parsing: "http://h/bucket")))
        origin.credentials = .signature(.fixed(.init(id: "key", secret: Secret("secret"))), region: "eu")
        return try DownloadRules(DownloadConfiguration(origins: [origin])).identity(of: "bucket:\(path)")
    }
}
