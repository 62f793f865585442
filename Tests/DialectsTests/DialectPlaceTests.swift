import Testing

@testable import Dialects

struct DialectPlaceTests {
    @Test(arguments: ["/", "/img", "/a/b", "/a.b_c-d~e"])
    func `a place is a path`(path: String) throws {
        #expect(try #require(DialectPlace(path)).path == path)
    }

    @Test(arguments: ["", "img", "/img/", "//", "/a//b", "/.", "/a/../b", "/a?b", "/a%20", "/ä", "/a b"])
    func `anything else is none`(path: String) {
        #expect(DialectPlace(path) == nil)
    }

    @Test func `targets below a place belong to it`() throws {
        let place = try #require(DialectPlace("/img"))
        for (target, rest) in [("/img/a/b?c", "/a/b?c"), ("/img?url=x", "?url=x"), ("/img", "")] {
            #expect(place.remainder(of: target).map(String.init) == rest)
            #expect(place.claim(on: target) == .certain)
        }
        for target in ["/", "/im", "/imgs/a", "/IMG/a", "/a/img"] {
            #expect(place.remainder(of: target) == nil && place.claim(on: target) == .none)
        }
    }

    @Test func `a place at the root takes what is left`() throws {
        let place = try #require(DialectPlace("/"))
        #expect(place.remainder(of: "/a/b?c") == "/a/b?c")
        #expect(place.claim(on: "/img/a") == .remainder)
    }

    @Test(
        arguments: [
            ("/a", "/a", true), ("/a", "/a/b", true), ("/a/b", "/a", true), ("/a", "/b", false), ("/a", "/ab", false),
            ("/", "/a", false), ("/", "/", true),
        ])
    func `places that share targets overlap`(one: String, other: String, overlaps: Bool) throws {
        #expect(try #require(DialectPlace(one)).overlaps(try #require(DialectPlace(other))) == overlaps)
    }
}
