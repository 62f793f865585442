/// Makes WebP files from the output of our own encoder.
package enum WebPWriter {
    /// A file of one chunk of pixels, with an ICC profile before it.
    package static func profiled(
        _ file: [UInt8], width: Int, height: Int, hasAlpha: Bool, _ profile: [UInt8]
    ) -> [UInt8] {
        let pixels = file.dropFirst(12)
        let chunk = pixels.starts(with: "VP8X".utf8) ? Array(pixels.dropFirst(18)) : Array(pixels)
        let flags: UInt8 = 0x20 | (hasAlpha ? 0x10 : 0)
        let sides = [width - 1, height - 1].flatMap { $0.littleEndian32.prefix(3) }
        let padding = [UInt8](repeating: 0, count: profile.count % 2)
        let body =
            Array("WEBPVP8X".utf8) + 10.littleEndian32 + [flags, 0, 0, 0] + sides + Array("ICCP".utf8)
            + profile.count.littleEndian32 + profile + padding + chunk
        return Array("RIFF".utf8) + body.count.littleEndian32 + body
    }
}
