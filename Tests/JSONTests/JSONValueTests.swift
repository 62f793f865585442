import Testing

@testable import JSON

@Suite struct JSONValueTests {
    @Test func `values are written without white space and in order`() {
        let value = JSONValue.object([
            ("b", .array([.int(1), .null, .bool(true), .bool(false)])), ("a", .string("\"\n")), ("c", .double(0.5)),
            ("d", .double(.infinity)), ("e", .object([])), ("f", .array([])),
        ])
        #expect(
            value.text == #"{"b":[1,null,true,false],"a":"\"\u000a","c":0.5,"d":null,"e":{},"f":[]}"#)
    }
}
