import Testing

@testable import Dialects

struct PathPrefixTests {
    @Test(arguments: ["/", "/img", "/a/b", "/a.b_c-d~e"])
    func `a prefix is a path`(path: String) throws {
        #expect(try #require(PathPrefix(path)).path == path)
    }

    @Test(arguments: ["", "img", "/img/", "//", "/a//b", "/.", "/a/../b", "/a?b", "/a%20", "/ä", "/a b"])
    func `other paths are rejected`(path: String) {
        #expect(PathPrefix(path) == nil)
    }

    @Test func `targets below a prefix belong to it`() throws {
        let prefix = try #require(PathPrefix("/img"))
        for (target, rest) in [("/img/a/b?c", "/a/b?c"), ("/img?url=x", "?url=x"), ("/img", "")] {
            #expect(prefix.remainder(of: target).map(String.init) == rest)
            #expect(prefix.match(on: target) == .exact)
        }
        for target in ["/", "/im", "/imgs/a", "/IMG/a", "/a/img"] {
            #expect(prefix.remainder(of: target) == nil && prefix.match(on: target) == .none)
        }
    }

    @Test func `a prefix at the root matches every remaining path`() throws {
        let prefix = try #require(PathPrefix("/"))
        #expect(prefix.remainder(of: "/a/b?c") == "/a/b?c")
        #expect(prefix.match(on: "/img/a") == .fallback)
    }

    @Test(
        arguments: [
            ("/a", "/a", true), ("/a", "/a/b", true), ("/a/b", "/a", true), ("/a", "/b", false), ("/a", "/ab", false),
            ("/", "/a", false), ("/", "/", true),
        ])
    func `paths that share targets overlap`(one: String, other: String, overlaps: Bool) throws {
        #expect(try #require(PathPrefix(one)).overlaps(try #require(PathPrefix(other))) == overlaps)
    }
}
