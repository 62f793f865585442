import Memory

/// Repairs HEIF files in which an auxiliary image (`auxl`) or metadata (`cdsc`) belong to several items: libheif before
/// 1.18 refuses them.
///
/// iPhones write such files since iOS 18: a gain map belongs to the image, and to the image with the gain map applied
/// (`tmap`). In a copy, each such reference keeps one item, the primary one if it is among them, so that alpha stays.
/// The copy has the same length, and data stays at its place: the bytes that become free are zeros behind the name of
/// the handler.
enum HEIFRepair {
    /// The file with such references shortened; the same bytes if it has none.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` for damaged references.
    static func repair(_ file: SharedBytes) throws(ImagingError) -> RepairedFile {
        let references = try file.withBytes { bytes throws(ImagingError) in try ShortReferences(bytes) }
        return RepairedFile(bytes: references.map { file.with($0) } ?? file, isIncomplete: false)
    }
}

/// References that were shortened, and where they belong.
private struct ShortReferences {
    /// The box of the handler (`hdlr`) with its header, and its contents.
    let handler: (box: Range<Int>, contents: Range<Int>)
    /// The box of the references with its header.
    let box: Range<Int>
    /// The whole box that takes its place.
    let replacement: [UInt8]

    /// Most bytes of such a box, which are in memory beside the copy; those of telephones have some hundreds.
    private static let most = 1 << 20

    /// The shortened references of a file; nil if all are short.
    init?(_ bytes: RawSpan) throws(ImagingError) {
        var boxes = BoxCursor(0..<bytes.byteCount)
        guard let meta = try boxes.next(of: BoxCursor.type("meta"), in: bytes)?.contents else { return nil }
        var handler: (box: Range<Int>, contents: Range<Int>)?
        var children = BoxCursor(meta.dropFirst(4))
        var start = min(meta.lowerBound + 4, meta.upperBound)
        while let child = try children.next(in: bytes) {
            let box = start..<child.contents.upperBound
            start = box.upperBound
            if child.type == BoxCursor.type("hdlr"), handler == nil {
                handler = (box, child.contents)
            } else if child.type == BoxCursor.type("iref") {
                // libheif reads the first such box alone.
                guard try Self.hasLong(bytes, in: child.contents) else { return nil }
                guard let handler else { throw .cannotDecode(detail: "the HEIF file's handler is not at its start") }
                let primary = try HEIFItems(bytes, meta: meta).primary
                let contents = try Self.shortened(bytes, in: child.contents, primary: primary)
                (self.handler, self.box) = (handler, box)
                replacement = .header(of: "iref", contents.count) + contents
                return
            }
        }
        return nil
    }

    private static func hasLong(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) -> Bool {
        var references = try HEIFReferences(bytes, in: range)
        while let reference = try references.next(in: bytes) {
            if reference.hasOneItem, try reference.targets(in: bytes).count > 1 { return true }
        }
        return false
    }

    /// The contents of the box, without bytes that no reference uses: never longer than before.
    private static func shortened(
        _ bytes: RawSpan, in range: Range<Int>, primary: Int?
    ) throws(ImagingError) -> [UInt8] {
        var references = try HEIFReferences(bytes, in: range)
        let width = references.width
        var result = [UInt8](number: try bytes.bigEndian32(at: range.lowerBound), width: 4)
        while let reference = try references.next(in: bytes) {
            var targets = try reference.targets(in: bytes)
            if reference.hasOneItem, targets.count > 1 {
                targets = [targets.first { $0 == primary } ?? targets[0]]
            }
            result += [UInt8](number: 8 + width + 2 + width * targets.count, width: 4)
            result += [UInt8](number: reference.type, width: 4)
            result += try [UInt8](number: reference.source(in: bytes), width: width)
            result += [UInt8](number: targets.count, width: 2)
            for target in targets { result += [UInt8](number: target, width: width) }
            guard result.count <= most else { throw .cannotDecode(detail: "too many references") }
        }
        return result
    }
}

extension HEIFReferences.Reference {
    /// Whether libheif wants one item behind it.
    fileprivate var hasOneItem: Bool { type == BoxCursor.type("auxl") || type == BoxCursor.type("cdsc") }
}

extension SharedBytes {
    /// A copy of the same length with these references, and as many zeros behind the handler as they are shorter.
    fileprivate func with(_ references: ShortReferences) -> SharedBytes {
        let (handler, contents) = references.handler
        // Its header may have been longer than it need be.
        let freed = references.box.count - references.replacement.count + handler.count - 8 - contents.count
        var result = ByteAccumulator(reservingCapacity: count)
        unsafe withUnsafeBytes { bytes in
            unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[..<handler.lowerBound]))
            unsafe [UInt8].header(of: "hdlr", contents.count + freed).withUnsafeBytes { unsafe result.append($0) }
            unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[contents]))
            unsafe [UInt8](repeating: 0, count: freed).withUnsafeBytes { unsafe result.append($0) }
            let between = handler.upperBound..<references.box.lowerBound
            unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[between]))
            unsafe references.replacement.withUnsafeBytes { unsafe result.append($0) }
            unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[references.box.upperBound...]))
        }
        return result.finish()
    }
}

extension [UInt8] {
    /// A number in so many bytes, the most significant first.
    fileprivate init(number: Int, width: Int) {
        self = (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * (width - 1 - $0))) }
    }

    /// The header of a box with so many bytes of contents.
    fileprivate static func header(of type: StaticString, _ count: Int) -> [UInt8] {
        [UInt8](number: count + 8, width: 4) + [UInt8](number: BoxCursor.type(type), width: 4)
    }
}
