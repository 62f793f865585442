/// Who made an image and who owns the rights, as the file says in Exif.
package struct Attribution: Hashable, Sendable {
    /// The text of the tag `Artist`, without its final zero; empty without one.
    package let artist: [UInt8]
    /// The text of the tag `Copyright`, without its final zero; empty without one.
    package let copyright: [UInt8]

    /// Most bytes of each text; a longer one is left out.
    package static let longest = 4_096

    /// These texts; nil if both are empty.
    package init?(artist: [UInt8], copyright: [UInt8]) {
        guard !artist.isEmpty || !copyright.isEmpty else { return nil }
        (self.artist, self.copyright) = (artist, copyright)
    }

    /// Bytes of memory that the texts take, roughly.
    var byteCount: Int { (artist.count + copyright.count) / 8 * 9 + 96 }
}
