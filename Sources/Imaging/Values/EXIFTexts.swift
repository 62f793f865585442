/// The texts in Exif about a file's camera, making, maker and rights; never about a place.
package struct EXIFTexts: Hashable, Sendable {
    /// The maker of the camera; all texts are without their final zeros, and empty if the file does not say.
    package let make: [UInt8]
    /// The model of the camera.
    package let model: [UInt8]
    /// When the file was last changed, as `YYYY:MM:DD HH:MM:SS`.
    package let dateTime: [UInt8]
    /// Who made the image and who owns the rights; nil if the file does not say.
    package let attribution: Attribution?

    /// Most bytes of each text but those of ``attribution``; a longer one is left out.
    package static let longest = 255

    /// These texts; nil if there are none.
    package init?(
        make: [UInt8] = [], model: [UInt8] = [], dateTime: [UInt8] = [], attribution: Attribution? = nil
    ) {
        guard !make.isEmpty || !model.isEmpty || !dateTime.isEmpty || attribution != nil else { return nil }
        (self.make, self.model, self.dateTime, self.attribution) = (make, model, dateTime, attribution)
    }

    /// Bytes of memory that the texts take, roughly.
    var byteCount: Int { [make, model, dateTime].reduce(attribution?.byteCount ?? 0) { $0 + $1.count + 48 } }
}

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
