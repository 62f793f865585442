package import Memory

extension GainMap {
    /// The map as a file of its own, whose header is ``header``; nil if the image's file ends before.
    ///
    /// What the map's own data say about colours and turns does not count, so a decoder does not see it.
    package func file(in source: SharedBytes) -> SharedBytes? {
        switch place {
        case .file(let range):
            guard range.lowerBound >= 0, range.upperBound <= source.count else { return nil }
            let file = JPEGSegments.stripped(SharedBytes(range, of: source))
            guard header.orientation > 1 else { return file }
            return EXIFWriting.jpeg(file, EXIFWriting.block(orientation: header.orientation), header.storedSize)
        case .item(let item):
            guard let place = source.withBytes({ $0.placeOfPrimaryItem }) else { return nil }
            let number = JPEGSegments.bigEndian(item, place.count)
            return JPEGSegments.joined([
                (0..<place.lowerBound, source), (0..<place.count, SharedBytes(number)),
                (place.upperBound..<source.count, source),
            ])
        }
    }
}

extension RawSpan {
    /// The place of the number of a HEIF file's primary item; nil without one.
    fileprivate var placeOfPrimaryItem: Range<Int>? {
        var boxes = BoxCursor(0..<byteCount)
        guard let meta = try? boxes.next(of: BoxCursor.type("meta"), in: self)?.contents else { return nil }
        var inner = BoxCursor(meta.dropFirst(4))
        guard let primary = try? inner.next(of: BoxCursor.type("pitm"), in: self)?.contents,
            let version = try? byte(at: primary.lowerBound)
        else { return nil }
        let place = primary.lowerBound + 4..<primary.lowerBound + 4 + (version == 0 ? 2 : 4)
        return place.upperBound <= primary.upperBound ? place : nil
    }
}
