/// Inflates the beginning of zlib data (RFC 1950, RFC 1951) without a C library.
struct Inflation {
    private let input: [UInt8]
    private let maximum: Int
    private var offset = 0
    private var output: [UInt8] = []

    /// Inflates at most `maximum` bytes, or fewer if the data are damaged.
    ///
    /// `maximum` also limits the number of bytes and blocks that are read.
    static func prefix(of data: RawSpan, maximum: Int) -> [UInt8] {
        // Compressed data are rarely longer than their content.
        let count = min(data.byteCount, 2 * maximum + 1_024)
        var inflation = Inflation(
            input: unsafe data.extracting(0..<count).withUnsafeBytes { unsafe Array($0) }, maximum: maximum)
        inflation.run()
        return inflation.output
    }

    private init(input: [UInt8], maximum: Int) {
        self.input = input
        self.maximum = maximum
    }

    private mutating func run() {
        guard bits(4) == 8, bits(12) != nil else { return }
        var isLast = false
        // Encoders rarely write blocks of less than 64 bytes.
        var blocks = 16 + maximum / 64
        while !isLast, output.count < maximum, blocks > 0 {
            blocks -= 1
            guard let last = bits(1), let kind = bits(2) else { return }
            isLast = last == 1
            let isIntact: Bool
            switch kind {
            case 0: isIntact = copyStored()
            case 1: isIntact = decode(Self.fixedLengths, distances: Self.fixedDistances)
            case 2:
                guard let codes = readCodes() else { return }
                isIntact = decode(codes.lengths, distances: codes.distances)
            default: return
            }
            guard isIntact else { return }
        }
    }

    private mutating func bits(_ count: Int) -> Int? {
        guard offset + count <= 8 * input.count else { return nil }
        var value = 0
        for index in 0..<count { value |= Int(input[(offset + index) / 8] >> ((offset + index) % 8) & 1) << index }
        offset += count
        return value
    }

    private mutating func copyStored() -> Bool {
        offset = (offset + 7) / 8 * 8
        guard let count = bits(16), let inverse = bits(16), count == ~inverse & 0xFFFF,
            offset / 8 + count <= input.count
        else { return false }
        let start = offset / 8
        output += input[start..<start + min(count, maximum - output.count)]
        offset += 8 * count
        return true
    }

    /// A Huffman code: the number of words per length, and the symbols in code order.
    private struct Code {
        private var counts = [Int](repeating: 0, count: 16)
        private var symbols: [Int] = []

        init(_ lengths: [Int]) {
            for length in lengths where length > 0 { counts[length] += 1 }
            for length in 1...15 { symbols += lengths.indices.filter { lengths[$0] == length } }
        }

        func symbol(_ data: inout Inflation) -> Int? {
            var code = 0
            var first = 0
            var index = 0
            for length in 1...15 {
                guard let bit = data.bits(1) else { return nil }
                code |= bit
                if code < first + counts[length] { return symbols[index + code - first] }
                index += counts[length]
                first = (first + counts[length]) << 1
                code <<= 1
            }
            return nil
        }
    }

    private static let fixedLengths = Code((0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = Code([Int](repeating: 5, count: 30))
    /// The order of the code lengths for the code length alphabet (RFC 1951 section 3.2.7).
    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private mutating func readCodes() -> (lengths: Code, distances: Code)? {
        guard let lengthCount = bits(5), let distanceCount = bits(5), let codeCount = bits(4) else { return nil }
        var lengths = [Int](repeating: 0, count: 19)
        for index in 0..<codeCount + 4 {
            guard let length = bits(3) else { return nil }
            lengths[Self.order[index]] = length
        }
        let code = Code(lengths)
        let total = lengthCount + 257 + distanceCount + 1
        var all: [Int] = []
        while all.count < total {
            guard let symbol = code.symbol(&self) else { return nil }
            if symbol < 16 {
                all.append(symbol)
                continue
            }
            guard let more = bits([2, 3, 7][symbol - 16]), symbol > 16 || !all.isEmpty else { return nil }
            all += [Int](repeating: symbol == 16 ? all[all.count - 1] : 0, count: [3, 3, 11][symbol - 16] + more)
        }
        guard all.count == total else { return nil }
        return (Code(Array(all[..<(lengthCount + 257)])), Code(Array(all[(lengthCount + 257)...])))
    }

    private mutating func decode(_ lengths: Code, distances: Code) -> Bool {
        while output.count < maximum {
            guard let symbol = lengths.symbol(&self) else { return false }
            if symbol == 256 { return true }
            if symbol < 256 {
                output.append(UInt8(symbol))
                continue
            }
            guard let length = length(symbol - 257), let kind = distances.symbol(&self), kind < 30,
                let more = bits(kind < 4 ? 0 : kind / 2 - 1)
            else { return false }
            let distance = (kind < 4 ? kind : (2 + kind % 2) << (kind / 2 - 1)) + 1 + more
            guard distance <= output.count else { return false }
            for _ in 0..<min(length, maximum - output.count) { output.append(output[output.count - distance]) }
        }
        return true
    }

    private mutating func length(_ kind: Int) -> Int? {
        switch kind {
        case 0..<8: kind + 3
        case 8..<28: bits(kind / 4 - 1).map { ((4 + kind % 4) << (kind / 4 - 1)) + 3 + $0 }
        case 28: 258
        default: nil
        }
    }
}
