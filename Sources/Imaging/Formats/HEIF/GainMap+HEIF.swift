import Recipes

extension GainMap {
    /// Reads a tone-mapped item (`tmap`, ISO/IEC 23008-12) of the primary item, or else Apple's auxiliary image.
    ///
    /// Damage affects only the map.
    static func heif(_ bytes: RawSpan, items: HEIFItems, of image: ImageHeader, countsFrames: Bool) -> GainMap? {
        guard let primary = items.primary else { return nil }
        func contents(_ item: Int) -> Range<Int>? { (try? items.locations.onlyExtent(of: item, in: bytes)) ?? nil }
        func map(of item: Int, metadata: GainMapMetadata, samples: Samples) -> GainMap? {
            guard item != primary,
                let header = try? HEIFHeader.header(
                    of: items.showing(item), in: bytes, format: image.format, exif: nil, countsFrames: countsFrames),
                header.isMap(of: image)
            else { return nil }
            return GainMap(.item(item), header: header, metadata: metadata, samples: samples)
        }
        let toned = items.types.filter { $0.value == BoxCursor.type("tmap") }.keys.min()
        if let toned, case let sources = items.sources(of: toned), sources.count == 2, sources[0] == primary,
            // The first byte is the version of the box.
            let range = contents(toned), range.count > 1, (try? bytes.byte(at: range.lowerBound)) == 0,
            let metadata = GainMapMetadata(bytes, iso: range.dropFirst())
        {
            return map(of: sources[1], metadata: metadata, samples: .logarithms)
        }
        guard
            let item = items.auxiliaries(of: primary).first(where: { item in
                (try? items.properties(of: item, in: bytes).contains(.gainMap)) ?? false
            }),
            let exif = items.exif.flatMap(contents), let offset = try? bytes.bigEndian32(at: exif.lowerBound),
            offset <= exif.count - 4,
            let metadata = AppleHeadroom(exif: bytes, range: exif.lowerBound + 4 + offset..<exif.upperBound)?.metadata
        else { return nil }
        return map(of: item, metadata: metadata, samples: .amounts)
    }
}

extension ImageHeader {
    /// Returns whether this is a gray or three-color image with the same aspect ratio.
    fileprivate func isMap(of image: ImageHeader) -> Bool {
        // A file can declare sides of any length, so products can overflow.
        let one = Double(size.width) * Double(image.size.height)
        let other = Double(image.size.width) * Double(size.height)
        return [1, 3].contains(bands) && !hasAlpha && frames == 1 && abs(one - other) * 50 <= max(one, other)
    }
}
