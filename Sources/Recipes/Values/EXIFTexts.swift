package struct EXIFTexts: Hashable, Sendable {
    /// All texts are without trailing zeros, and empty if absent.
    package let make: [UInt8]
    package let model: [UInt8]
    package let dateTime: [UInt8]
    /// The artist and the copyright; nil if absent.
    package let attribution: Attribution?

    /// In bytes; a longer text outside ``attribution`` is dropped.
    package static let longest = 255

    package init?(
        make: [UInt8] = [], model: [UInt8] = [], dateTime: [UInt8] = [], attribution: Attribution? = nil
    ) {
        guard !make.isEmpty || !model.isEmpty || !dateTime.isEmpty || attribution != nil else { return nil }
        (self.make, self.model, self.dateTime, self.attribution) = (make, model, dateTime, attribution)
    }

    var byteCount: Int { [make, model, dateTime].reduce(attribution?.byteCount ?? 0) { $0 + $1.count + 48 } }
}

package struct Attribution: Hashable, Sendable {
    /// The tag `Artist` without its trailing zero; empty if absent.
    package let artist: [UInt8]
    /// The tag `Copyright` without its trailing zero; empty if absent.
    package let copyright: [UInt8]

    /// Maximum size of each text in bytes; a longer one is dropped.
    package static let longest = 4_096

    package init?(artist: [UInt8], copyright: [UInt8]) {
        guard !artist.isEmpty || !copyright.isEmpty else { return nil }
        (self.artist, self.copyright) = (artist, copyright)
    }

    var byteCount: Int { (artist.count + copyright.count) / 8 * 9 + 96 }
}
