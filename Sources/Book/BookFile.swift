import CZlib
import Crypto
package import Memory

/// Made by the plugin `BookBuilder` from docs/ at build time.
///
/// `table` is its generated part.
package struct BookFile: Sendable {
    /// The path below the site's root, such as `decisions/003-source-cache.html`.
    package let path: String
    private let size: Int
    private let text: StaticString

    /// Empty if the build had no MkDocs.
    package static let all = table

    /// Decoded from text when the first is needed.
    private static let contents = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0.decoded) })

    init(_ path: StaticString, size: Int, gzip: StaticString) {
        self.path = path.description
        self.size = size
        text = gzip
    }

    /// `Content-Encoding: gzip`.
    package var gzip: SharedBytes { Self.contents[path] ?? decoded }

    package var bytes: [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: size) { output, count in
            unsafe gzip.withUnsafeBytes { input in
                var stream = unsafe z_stream()
                guard unsafe inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
                else { return }
                defer { unsafe inflateEnd(&stream) }
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
                unsafe stream.avail_in = UInt32(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(output.count)
                _ = unsafe inflate(&stream, Z_FINISH)
                count = unsafe Int(stream.total_out)
            }
        }
    }

    private var decoded: SharedBytes { SharedBytes(Base64.decode(text.description) ?? []) }
}
