import HTTPTypes
import Testing

struct HTTPFieldsTests {
    @Test func `names are compared without regard to case and written as given`() {
        let fields: HTTPFields = [.contentType: "image/png"]
        #expect(HTTPField.Name("CONTENT-type").map { fields[$0] } == "image/png")
        #expect(HTTPField.Name("X-Case")?.rawName == "X-Case")
    }

    @Test(arguments: ["", "a b", "a:", "é", "a\n"])
    func `a name that is not a token is rejected`(name: String) {
        #expect(HTTPField.Name(name) == nil)
    }

    @Test func `several lines of a name are joined, setting replaces them`() {
        var fields: HTTPFields = [.vary: "Accept", .age: "1", .vary: "Origin"]
        #expect(fields[.vary] == "Accept, Origin")
        #expect(fields.values(of: .vary) == ["Accept", "Origin"])
        fields[.vary] = "*"
        #expect(fields.values(of: .vary) == ["*"])
        fields[.vary] = nil
        #expect(!fields.contains(.vary) && fields.count == 1)
    }

    @Test func `fields that extend others contain both, and do not change the others`() {
        let lasting: HTTPFields = [.vary: "Accept", .eTag: "1"]
        var answer = HTTPFields(continuing: lasting)
        answer.append(.age, "1")
        answer.append(.vary, "Origin")
        #expect(answer == [.vary: "Accept", .eTag: "1", .age: "1", .vary: "Origin"])
        #expect(answer.hashValue == HTTPFields(Array(answer)).hashValue)
        #expect(answer.map(\.value) == ["Accept", "1", "1", "Origin"])
        #expect(answer[.vary] == "Accept, Origin" && answer.contains(.age) && !answer.contains(.date))
        #expect(lasting.count == 2)
        var again = HTTPFields(continuing: answer)
        again[.vary] = nil
        #expect(again == [.eTag: "1", .age: "1"])
    }

    @Test func `lists are split at commas outside quotes`() {
        #expect(HTTPSyntax.list("a, \"b, c\" ,, d=\"\\\",\"") == ["a", "\"b, c\"", "d=\"\\\",\""])
        #expect(HTTPSyntax.unquoted("\"a\\\"b\"") == "a\"b")
        #expect(HTTPSyntax.unquoted("plain") == "plain")
    }
}
