import TestSupport
import Testing

@testable import Commands

struct ResultNamesTests {
    @Test func `a name that is taken gets a number`() {
        var names = ResultNames(stems: ["cat", "cat", "dog", "cat"])
        for index in 0..<4 { _ = names.settle(index, fileExtension: "jpg") }
        #expect(names.names == [0: "cat.jpg", 1: "cat-2.jpg", 2: "dog.jpg", 3: "cat-3.jpg"])
    }

    @Test func `sources of other formats do not collide`() {
        var names = ResultNames(stems: ["cat", "cat"])
        _ = names.settle(0, fileExtension: "jpg")
        _ = names.settle(1, fileExtension: "png")
        #expect(names.names == [0: "cat.jpg", 1: "cat.png"])
    }

    @Test func `a number makes no name that another source has by itself`() {
        var names = ResultNames(stems: ["cat", "cat", "cat-2"])
        for index in 0..<3 { _ = names.settle(index, fileExtension: "jpg") }
        #expect(names.names == [0: "cat.jpg", 1: "cat-3.jpg", 2: "cat-2.jpg"])
    }

    @Test func `names depend on the order of the sources, and not on which is ready first`() {
        let stems = ["cat", "dog", "cat", "cat-2", "cat", "dog", "cat"]
        let endings = ["jpg", "png", nil, "jpg", "png", "png", "jpg"]
        var orders: Set<String> = []
        var random = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            var names = ResultNames(stems: stems)
            var told: [Int: String] = [:]
            for index in stems.indices.shuffled(using: &random) {
                for (index, name) in names.settle(index, fileExtension: endings[index]) { told[index] = name }
            }
            #expect(told == names.names)
            orders.insert(told.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ","))
        }
        #expect(orders == ["0 cat.jpg,1 dog.png,3 cat-2.jpg,4 cat.png,5 dog-2.png,6 cat-3.jpg"])
    }

    @Test func `a source that gave up its turn gets what is free later`() {
        var names = ResultNames(stems: ["cat", "cat"])
        let told = [(1, "jpg"), (0, nil), (0, "jpg")].map { index, ending in
            names.settle(index, fileExtension: ending).map(\.name)
        }
        #expect(told == [[], ["cat.jpg"], ["cat-2.jpg"]])
    }

    @Test func `a long name is cut`() {
        var names = ResultNames(stems: [String(repeating: "ä", count: 200)])
        let name = names.settle(0, fileExtension: "webp")[0].name
        #expect(name.utf8.count == 235)
    }

    @Test(.timeLimit(.minutes(1))) func `a task waits for its name until earlier ones are decided`() async {
        let desk = SharedResultNames(stems: ["cat", "cat", "cat"])
        async let last = desk.name(of: 2, fileExtension: "jpg")
        async let second = desk.name(of: 1, fileExtension: "jpg")
        desk.pass(0)
        #expect(await second == "cat.jpg")
        #expect(await last == "cat-2.jpg")
        #expect(await desk.name(of: 2, fileExtension: "jpg") == "cat-2.jpg")
    }
}
