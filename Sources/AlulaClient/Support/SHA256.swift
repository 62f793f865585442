import Foundation

/// SHA-256 (FIPS 180-4) and HMAC (RFC 2104), in Swift, so that the library is the same on every platform.
struct SHA256 {
    private var state = initial
    private var words = [UInt32](repeating: 0, count: 64)
    /// The last bytes, fewer than a block.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    /// Adds bytes to the hash.
    mutating func update(_ bytes: Data) {
        count += UInt64(bytes.count)
        // As arrays, whose elements the compiler reads without calls, a chunk at a time.
        for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
            let blocks = rest + bytes.dropFirst(start).prefix(1 << 16)
            let whole = blocks.count & ~63
            Self.compress(blocks, count: whole, into: &state, &words)
            rest = Array(blocks[whole...])
        }
    }

    /// Returns the hash, 32 bytes.
    mutating func finish() -> [UInt8] {
        var last = rest + [0x80]
        last += [UInt8](repeating: 0, count: (120 - last.count) % 64)
        last += Self.bigEndian(count << 3)
        Self.compress(last, count: last.count, into: &state, &words)
        return state.flatMap(Self.bigEndian)
    }

    static func hash(_ bytes: Data) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    /// Returns the authentication code of some bytes under a key.
    static func authenticationCode(for bytes: Data, key: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? hash(Data(key)) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        return hash(Data(block.map { $0 ^ 0x5c } + hash(Data(block.map { $0 ^ 0x36 }) + bytes)))
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func turned(_ value: UInt32, _ count: UInt32) -> UInt32 { value >> count | value << (32 - count) }

    private static func compress(
        _ blocks: [UInt8], count: Int, into state: inout [UInt32], _ words: inout [UInt32]
    ) {
        for start in stride(from: 0, to: count, by: 64) {
            for index in 0..<16 {
                let place = start + 4 * index
                words[index] =
                    UInt32(blocks[place]) << 24 | UInt32(blocks[place + 1]) << 16
                    | UInt32(blocks[place + 2]) << 8 | UInt32(blocks[place + 3])
            }
            compress(&words, into: &state)
        }
    }

    private static func compress(_ words: inout [UInt32], into state: inout [UInt32]) {
        for index in 16..<64 {
            let early = words[index - 15]
            let late = words[index - 2]
            words[index] =
                words[index - 16] &+ (turned(early, 7) ^ turned(early, 18) ^ early >> 3)
                &+ words[index - 7] &+ (turned(late, 17) ^ turned(late, 19) ^ late >> 10)
        }
        var a = state[0]
        var b = state[1]
        var c = state[2]
        var d = state[3]
        var e = state[4]
        var f = state[5]
        var g = state[6]
        var h = state[7]
        for index in 0..<64 {
            let first =
                h &+ (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) &+ (e & f ^ ~e & g)
                &+ constants[index] &+ words[index]
            let second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ (a & b ^ a & c ^ b & c)
            h = g
            g = f
            f = e
            e = d &+ first
            d = c
            c = b
            b = a
            a = first &+ second
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
        state[5] &+= f
        state[6] &+= g
        state[7] &+= h
    }

    /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    private static let initial: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

extension [UInt8] {
    /// Two lowercase digits for each byte.
    var hexadecimal: String {
        map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
}
