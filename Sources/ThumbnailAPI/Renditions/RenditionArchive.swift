import Crypto
import Dialects
import HTTPTypes
import JSON
import Memory
import Recipes
import ThumbnailPipeline
import ThumbnailTypes

struct RenditionArchive: Sendable {
    enum Kind: Sendable {
        case multipart(boundary: String)
        /// A POSIX tar archive (IEEE 1003.1, "ustar interchange format").
        case tar
    }

    enum Part: Sendable {
        case image(Thumbnail)
        case stored(StoredResult)
        case facts(String)
        case problem(Problem)
    }

    let kind: Kind

    /// Creates an archive with a random boundary, which no image contains.
    init(isTar: Bool) {
        let boundary = "alula-" + Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        kind = isTar ? .tar : .multipart(boundary: boundary)
    }

    var mediaType: String {
        switch kind {
        case .multipart(let boundary): "multipart/mixed; boundary=\(boundary)"
        case .tar: "application/x-tar"
        }
    }

    /// Returns the entry in pieces, so that the image is not copied.
    ///
    /// - Parameters:
    ///   - name: The name in letters, digits, dots, hyphens and underscores.
    ///   - now: The time of the entry in Unix seconds.
    func pieces(of part: Part, named name: String, at now: Int) -> [SharedBytes] {
        let (bytes, fields, ending) = Self.content(of: part)
        switch kind {
        case .multipart(let boundary):
            var header = "--\(boundary)\r\n"
            for (field, value) in fields { header += "\(field): \(value)\r\n" }
            header += "Content-ID: <\(name)>\r\nContent-Length: \(bytes.count)\r\n\r\n"
            return [SharedBytes(Array(header.utf8)), bytes, SharedBytes(Array("\r\n".utf8))]
        case .tar:
            let padding = [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
            return [
                SharedBytes(Self.tarHeader(name + ending, count: bytes.count, now: now)), bytes, SharedBytes(padding),
            ]
        }
    }

    var end: SharedBytes {
        switch kind {
        case .multipart(let boundary): SharedBytes(Array("--\(boundary)--\r\n".utf8))
        case .tar: SharedBytes([UInt8](repeating: 0, count: 1_024))
        }
    }

    static func content(of part: Part) -> (bytes: SharedBytes, fields: [(String, String)], ending: String) {
        switch part {
        case .image(let made):
            let image = made.image
            var fields = [("Content-Type", image.format.mediaType), ("ETag", made.eTag)]
            if let gainMap = made.gainMap { fields.append(("Alula-HDR", gainMap.done)) }
            if let quality = image.quality { fields.append(("Alula-Quality", String(quality))) }
            return (image.bytes, fields, "." + image.format.fileExtension)
        case .stored(let stored):
            let text = JSONValue.object(JSONValue.stored(stored)).text
            return (SharedBytes(Array(text.utf8)), [("Content-Type", "application/json")], ".json")
        case .facts(let text):
            return (SharedBytes(Array(text.utf8)), [("Content-Type", "application/json")], ".json")
        case .problem(let problem):
            return (
                SharedBytes(Array(problem.text.utf8)), [("Content-Type", "application/problem+json")], ".problem.json"
            )
        }
    }

    private static func tarHeader(_ name: String, count: Int, now: Int) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ text: some Sequence<UInt8>, at offset: Int) {
            for (index, byte) in text.enumerated() { block[offset + index] = byte }
        }
        func octal(_ value: Int, digits: Int) -> [UInt8] {
            let text = String(value, radix: 8)
            return Array((String(repeating: "0", count: max(0, digits - text.utf8.count)) + text).utf8)
        }
        // A name has up to 128 characters, without a slash at which ustar could split it. One with more than 100 needs
        // an extra header before this one.
        put(name.utf8.prefix(100), at: 0)
        put(octal(0o644, digits: 7), at: 100)
        put(octal(0, digits: 7), at: 108)
        put(octal(0, digits: 7), at: 116)
        put(octal(count, digits: 11), at: 124)
        put(octal(now, digits: 11), at: 136)
        block[156] = UInt8(ascii: "0")
        put("ustar\0".utf8, at: 257)
        put("00".utf8, at: 263)
        put(octal(checksum(of: block), digits: 6) + [0, 0x20], at: 148)
        guard name.utf8.count > 100 else { return block }
        let whole = Array("path=\(name)\n".utf8)
        // A record starts with its length, which includes these digits and has three of them here.
        let record = Array("\(whole.count + 4) ".utf8) + whole
        var extended = tarHeader("PaxHeaders/name", count: record.count, now: now)
        extended[156] = UInt8(ascii: "x")
        for (index, byte) in (octal(checksum(of: extended), digits: 6) + [0, 0x20]).enumerated() {
            extended[148 + index] = byte
        }
        return extended + record + [UInt8](repeating: 0, count: 512 - record.count % 512) + block
    }

    /// The checksum of a header, whose checksum field counts as spaces.
    private static func checksum(of header: [UInt8]) -> Int {
        header.indices.reduce(0) { $0 + (148..<156 ~= $1 ? 0x20 : Int(header[$1])) }
    }
}

extension JSONValue {
    static func stored(_ stored: StoredResult) -> [(String, JSONValue)] {
        [
            ("location", .string(stored.location)), ("type", .string(stored.mediaType)), ("bytes", .int(stored.bytes)),
            ("width", .int(stored.size.width)), ("height", .int(stored.size.height)), ("etag", .string(stored.eTag)),
        ]
    }
}
