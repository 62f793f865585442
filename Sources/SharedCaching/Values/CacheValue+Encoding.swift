import Crypto
import Memory

/// The encoding of a value: layout version, length, key, generations at the start of the write, head, body, signature.
///
/// The signature (``SharedSigner``) covers everything before it and is verified before anything is used.
extension CacheValue {
    /// The first bytes of a value, with the version of its layout.
    private static let mark = Array("Alula/1\n".utf8)
    private static let digestLength = 32
    private static let signatureLength = SharedSigner.length

    private static func frameLength(generations count: Int) -> Int {
        mark.count + 8 + digestLength + 1 + count * Generation.length + 4 + signatureLength
    }

    func length(generations count: Int) -> Int { Self.frameLength(generations: count) + head.count + body.count }

    func encoded(
        under key: SharedKey, generations: [Generation], signer: SharedSigner = SharedSigner()
    ) -> SharedBytes {
        let length = length(generations: generations.count)
        var start = Self.mark + length.littleEndianBytes() + key.digest + [UInt8(clamping: generations.count)]
        for generation in generations { start += generation.bytes }
        start += head.count.littleEndianBytes(4) + head
        var accumulator = ByteAccumulator(reservingCapacity: length)
        accumulator.append(start)
        accumulator.append(body)
        var hash = SHA256()
        unsafe hash.update(start.span.bytes)
        body.withBytes { hash.update($0) }
        accumulator.append(signer.signature(of: hash.finalize()))
        return accumulator.finish()
    }

    enum Outcome {
        case value(CacheValue)
        case outdated
        case damaged
    }

    static func read(
        _ bytes: SharedBytes, under key: SharedKey, generations: [Generation],
        signer: SharedSigner = SharedSigner()
    ) -> Outcome {
        bytes.withBytes { span in
            let frame = frameLength(generations: generations.count)
            guard span.byteCount >= frame else { return .damaged }
            let end = span.byteCount - signatureLength
            func byte(_ offset: Int) -> UInt8 { unsafe span.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
            func number(_ start: Int, _ count: Int) -> Int {
                (start..<start + count).reversed().reduce(0) { $0 << 8 | Int(byte($1)) }
            }
            func has(_ expected: [UInt8], at start: Int) -> Bool {
                for index in expected.indices where byte(start + index) != expected[index] { return false }
                return true
            }
            var offset = mark.count
            guard has(mark, at: 0), byte(offset + 7) == 0, number(offset, 7) == span.byteCount,
                HMAC.isEqual(
                    (0..<signatureLength).map { byte(end + $0) },
                    signer.signature(of: SHA256.hash(span.extracting(0..<end))))
            else { return .damaged }
            offset += 8
            guard has(key.digest, at: offset) else { return .damaged }
            offset += digestLength
            guard number(offset, 1) == generations.count else { return .damaged }
            offset += 1
            var isOutdated = false
            for generation in generations {
                if !has(generation.bytes, at: offset) { isOutdated = true }
                offset += Generation.length
            }
            let headLength = number(offset, 4)
            offset += 4
            guard headLength <= end - offset else { return .damaged }
            if isOutdated { return .outdated }
            let head = unsafe span.extracting(offset..<offset + headLength).withUnsafeBytes { unsafe Array($0) }
            return .value(CacheValue(head: head, body: SharedBytes(offset + headLength..<end, of: bytes)))
        }
    }
}
