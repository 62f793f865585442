import TestSupport
import Testing

@testable import Commands

struct ResultNamesTests {
    private static func names(_ stems: [String]) -> ResultNames { ResultNames(patterns(stems)) }

    private static func patterns(_ stems: [String]) -> [ResultPattern] {
        stems.map { ResultPattern(distinguishing: nil).filled([.name: $0, .dir: ""]) }
    }

    @Test func `a taken name gets a number`() {
        var names = Self.names(["cat", "cat", "dog", "cat"])
        for index in 0..<4 { _ = names.settle(index, values: [.format: "jpg"]) }
        #expect(names.names == [0: "cat.jpg", 1: "cat-2.jpg", 2: "dog.jpg", 3: "cat-3.jpg"])
    }

    @Test func `sources of other formats do not collide`() {
        var names = Self.names(["cat", "cat"])
        _ = names.settle(0, values: [.format: "jpg"])
        _ = names.settle(1, values: [.format: "png"])
        #expect(names.names == [0: "cat.jpg", 1: "cat.png"])
    }

    @Test func `a number makes no name that another source already has`() {
        var names = Self.names(["cat", "cat", "cat-2"])
        for index in 0..<3 { _ = names.settle(index, values: [.format: "jpg"]) }
        #expect(names.names == [0: "cat.jpg", 1: "cat-3.jpg", 2: "cat-2.jpg"])
    }

    @Test func `names depend on the order of the sources, and not on their completion`() {
        let stems = ["cat", "dog", "cat", "cat-2", "cat", "dog", "cat"]
        let endings = ["jpg", "png", nil, "jpg", "png", "png", "jpg"]
        var orders: Set<String> = []
        var random = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            var names = Self.names(stems)
            var told: [Int: String] = [:]
            for index in stems.indices.shuffled(using: &random) {
                for (index, name) in names.settle(index, values: endings[index].map { [.format: $0] }) {
                    told[index] = name
                }
            }
            #expect(told == names.names)
            orders.insert(told.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ","))
        }
        #expect(orders == ["0 cat.jpg,1 dog.png,3 cat-2.jpg,4 cat.png,5 dog-2.png,6 cat-3.jpg"])
    }

    @Test func `a source that gave up its turn gets a later free name`() {
        var names = Self.names(["cat", "cat"])
        let told = [(1, "jpg"), (0, nil), (0, "jpg")].map { index, ending in
            names.settle(index, values: ending.map { [.format: $0] }).map(\.name)
        }
        #expect(told == [[], ["cat.jpg"], ["cat-2.jpg"]])
    }

    @Test func `a long name is truncated`() {
        var names = Self.names([String(repeating: "ä", count: 200)])
        let name = names.settle(0, values: [.format: "webp"])[0].name
        #expect(name.utf8.count == 235)
    }

    @Test(.timeLimit(.minutes(1))) func `a task waits for its name until earlier ones are decided`() async {
        let desk = SharedResultNames(Self.patterns(["cat", "cat", "cat"]))
        async let last = desk.name(of: 2, values: [.format: "jpg"])
        async let second = desk.name(of: 1, values: [.format: "jpg"])
        desk.skip(0)
        #expect(await second == "cat.jpg")
        #expect(await last == "cat-2.jpg")
        #expect(await desk.name(of: 2, values: [.format: "jpg"]) == "cat-2.jpg")
    }

    @Test func `names of an earlier run stay, and new ones avoid them`() {
        var names = ResultNames(Self.patterns(["cat", "cat", "cat"]), named: [2: "cat.jpg"])
        for index in 0..<2 { _ = names.settle(index, values: [.format: "jpg"]) }
        #expect(names.names == [0: "cat-2.jpg", 1: "cat-3.jpg", 2: "cat.jpg"])
    }

    @Test(arguments: [
        ("{dir}/{name}-{w}.{format}", "a/b/cat{h}.v2-300.webp", "a/b/cat{h}.v2-300-2.webp"),
        ("{name}.jpg", "cat{h}.v2.jpg", "cat{h}.v2-2.jpg"),
        ("{w}x{h}/{rendition}.{format}", "300x200/hero.webp", "300x200/hero-2.webp"),
        ("{dir}/x/{format}.webp", "a/b/x/webp.webp", "a/b/x/webp-2.webp"),
    ])
    func `a pattern has the values of its tokens`(_ pattern: String, _ first: String, _ second: String) throws {
        let early: ResultPattern.Values = [.name: "cat{h}.v2", .dir: "a/b", .rendition: "hero", .w: "300"]
        let pattern = try ResultPattern(pattern).filled(early)
        var names = ResultNames([pattern, pattern])
        for index in 0..<2 { _ = names.settle(index, values: [.format: "webp", .h: "200", .w: "1"]) }
        #expect(names.names == [0: first, 1: second])
    }

    @Test func `without a folder, its slash is removed too`() throws {
        let pattern = try ResultPattern("x/{dir}/{name}.{format}")
        #expect(pattern.filled([.dir: "", .name: "cat", .format: "jpg"]).text == "x/cat.jpg")
    }
}
