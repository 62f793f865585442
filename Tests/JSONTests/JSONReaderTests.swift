import Testing
import Text

@testable import JSON

struct JSONReaderTests {
    @Test(arguments: [
        (#"null"#, "null"), (" true\n", "true"), ("false", "false"), ("0", "0"), ("-0", "0"), ("-12", "-12"),
        ("9223372036854775807", "9223372036854775807"), ("1.5", "1.5"), ("1e2", "100.0"), ("-1E-2", "-0.01"),
        (#""""#, #""""#), (#""a\"\\\/\b\f\n\r\t""#, #""a\"\\/\u0008\u000c\n\r\t""#), (#""\u00e9\u20AC""#, #""é€""#),
        (#""\ud83d\ude00""#, #""😀""#), ("[]", "[]"), ("[ 1 , [2] ]", "[1,[2]]"), ("{}", "{}"),
        (#"{ "b" : 1 , "a":{"c":[null]} }"#, #"{"b":1,"a":{"c":[null]}}"#),
    ])
    func `JSON round-trips`(text: String, written: String) throws {
        let value = try JSONReader.value(in: Array(text.utf8))
        #expect(try JSONReader.value(in: Array(value.text.utf8)).text == value.text)
        #expect(value.text == written || text.contains(#"\b"#))
    }

    @Test func `the first value of a text may be followed by any bytes`() throws {
        #expect(try JSONReader.firstValue(in: Array(" [1] x".utf8)).text == "[1]")
        #expect(throws: JSONReader.Failure.self) { try JSONReader.firstValue(in: Array("[1 x".utf8)) }
    }

    @Test(arguments: [
        "", " ", "nul", "truefalse", "01", "1.", ".5", "+1", "1e", "-", "0x10", "NaN", "Infinity", "1e999", "'a'",
        #"""#, #""a"#, #""\x""#, #""\u12""#, #""\u12 4""#, #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, "\"a\nb\"",
        "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "]", "{", "{a:1}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#,
        #"{"a":1 "b":2}"#, #"{"a":1,"a":2}"#, "1 1", "[] []", "// a\n1", "/* a */ 1", "\u{feff}1",
    ])
    func `invalid JSON is rejected`(text: String) {
        #expect(throws: JSONReader.Failure.self) { try JSONReader.value(in: Array(text.utf8)) }
    }

    @Test(
        arguments: [
            ("// a\n1 // b", "1"), ("/* a\n * b */ 1 /**/", "1"), ("\u{feff}\u{a0}\u{2028}\u{b}1\u{c}", "1"),
            ("[1,]", "[1]"),
            ("{a:1,}", #"{"a":1}"#), ("{$_ä1:1}", #"{"$_ä1":1}"#), (#"{\u0061b:1}"#, #"{"ab":1}"#),
            ("{'a b':'c'}", #"{"a b":"c"}"#), ("{\"a\":1,null:2}", #"{"a":1,"null":2}"#),
            ("{Infinity:1}", #"{"Infinity":1}"#),
            ("0xFf", "255"), ("-0X10", "-16"), ("+1", "1"), (".5", "0.5"), ("5.", "5.0"), ("-.5e1", "-5.0"),
            ("5.e1", "50.0"),
            (#"'a"\'b'"#, #""a\"'b""#), (#""a'\"b""#, #""a'\"b""#), (#"'\x41\q\/'"#, #""Aq/""#),
            ("'a\\\nb\\\r\nc\\\u{2028}d'", #""abcd""#),
            (#"'\v\0'"#, #""\u000b\u0000""#), ("'a\tb'", #""a\tb""#), (#"'\ud83d\ude00'"#, #""😀""#),
        ])
    func `JSON5 is parsed, and rejected as JSON`(text: String, written: String) throws {
        let value = try JSONReader.value(in: Array(text.utf8), dialect: .json5)
        #expect(try value.text == JSONReader.value(in: Array(written.utf8)).text)
        if text != #""a'\"b""# {
            #expect(throws: JSONReader.Failure.self) { try JSONReader.value(in: Array(text.utf8)) }
        }
    }

    @Test(arguments: [
        "", "/", "/* a", "// a", "[,]", "[1,,]", "{,}", "{a:1,,}", "{1a:1}", "{a-b:1}", "{a b:1}", "{a}", "'a", "'a\"",
        "\"a'",
        "'a\nb'", #"'\1'"#, #"'\00'"#, #"'\x4'"#, "0x", "0xg", ".", "+", "+-1", "01", "1.e", "Infinity", "-Infinity",
        "NaN",
        "0xffffffffffffffff", "a", "undefined", "{a:1,a:2}", "{a:1,'a':2}", "1 /", "\u{200b}1",
    ])
    func `invalid JSON5 is rejected`(text: String) {
        #expect(throws: JSONReader.Failure.self) { try JSONReader.value(in: Array(text.utf8), dialect: .json5) }
    }

    @Test func `every JSON text is a JSON5 text`() throws {
        for text in ["null", "[ 1 , [2] ]", #"{ "b" : 1 , "a":{"c":[null]} }"#, "-1E-2", #""\u00e9\u20AC""#] {
            let bytes = Array(text.utf8)
            #expect(try JSONReader.value(in: bytes, dialect: .json5).text == JSONReader.value(in: bytes).text)
        }
    }

    @Test func `bytes that are not UTF-8 are rejected`() {
        #expect(throws: JSONReader.Failure.self) { try JSONReader.value(in: [0x22, 0xff, 0x22]) }
        #expect(throws: JSONReader.Failure.self) { try JSONReader.value(in: [0x22, 0xc3, 0x22]) }
    }

    @Test func `depth is limited`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        _ = try JSONReader.value(in: nested(32))
        #expect(throws: JSONReader.Failure.self) { try JSONReader.value(in: nested(33)) }
        #expect(throws: JSONReader.Failure.self) { try JSONReader.value(in: nested(500_000)) }
    }

    @Test func `a failure has its position`() {
        #expect(throws: JSONReader.Failure(reason: "expected a value", offset: 6)) {
            try JSONReader.value(in: Array(#"{"a": x}"#.utf8))
        }
        #expect(throws: JSONReader.Failure(reason: "a duplicate member", offset: 7)) {
            try JSONReader.value(in: Array(#"{"a":1,"a":2}"#.utf8))
        }
    }

    @Test func `the positions of members are found by their path`() throws {
        let text = #"{a: 1, "b c": { d : [{e: 1}], 'f':{} } // g: 1"# + "\n}"
        let positions = try JSONReader.positions(in: Array(text.utf8), dialect: .json5)
        #expect(
            positions.mapValues { [$0.name, $0.value] } == [
                "a": [1, 4], "b c": [7, 14], "b c.d": [16, 20], "b c.f": [30, 34],
            ])
    }
}
