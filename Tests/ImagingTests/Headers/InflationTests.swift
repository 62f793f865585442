import Crypto
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

struct InflationTests {
    /// The numbers below 150 in one block with dynamic Huffman codes.
    private static let coded =
        "eNod0ckBBDEIA8FUOgQEGJv8E1vN_sVVBCIpmsNweSwKJJSoUKODBl300JJBuibJIps85JCXfORSQYlyy6KaOtRQl3rU0kGLTtoTmz700J"
        + "d-9HKCI05yiuOFDmc4l_M4ywQjJplimvG-w1zmMcsNrrjJLW5zD9fnXO7jLi944iWveM07vOH52sdbNlixyRbb7GGHvawxPg1zhD3CIGGRME"
        + "nYJIwSVgmzhHN_Nuc-uE_uo_vsPrxP7-Oznwyo_Hyds6GMKCvKjLKjDClLypSypep7hHPmlD1lUFlUJpVNZVRZVWZVfx9zzrIyrWwr46r3B_"
        + "P5V1w"

    private func inflated(_ data: [UInt8], maximum: Int = 1_000) -> [UInt8] {
        unsafe data.withUnsafeBytes { unsafe Inflation.prefix(of: $0.bytes, maximum: maximum) }
    }

    @Test func `dynamic codes are read, up to the limit`() throws {
        let text = Array((0..<150).map(String.init).joined(separator: " ").utf8)
        let data = try #require(Base64URL.decode(Self.coded))
        #expect(inflated(data) == text)
        #expect(inflated(data, maximum: 77) == Array(text.prefix(77)))
    }

    @Test func `fixed codes and stored blocks are read`() {
        #expect(inflated(Zlib.zeros(700)) == [UInt8](repeating: 0, count: 700))
        let bytes = (0..<900).map { UInt8($0 % 251) }
        #expect(inflated(Zlib.stored(bytes)) == bytes)
        #expect(inflated(Zlib.zeros(1 << 20)).count == 1_000)
    }

    @Test func `blocks without a byte are limited`() {
        func data(_ blocks: Int) -> [UInt8] {
            let empty = [[UInt8]](repeating: [0, 0, 0, 0xFF, 0xFF], count: blocks).flatMap { $0 }
            return [0x78, 0x9C] + empty + [1, 1, 0, 0xFE, 0xFF, 7]
        }
        #expect(inflated(data(30)) == [7] && inflated(data(31)) == [])
    }

    @Test func `damage ends the output and is harmless`() throws {
        let data = try #require(Base64URL.decode(Self.coded))
        for count in data.indices { #expect(inflated(Array(data.prefix(count))).count <= 489) }
        for index in data.indices {
            var other = data
            other[index] ^= 0x55
            #expect(inflated(other).count <= 1_000)
        }
    }
}
