import Recipes

struct HEIFItems {
    private(set) var primary: Int?
    /// The properties that items refer to.
    private(set) var properties: [HEIFProperty] = []
    /// The properties of each item; nil for an item with two lists.
    private var lists: [Int: PropertyList?] = [:]
    /// The tiles of a grid or the layers of an overlay.
    private var sources: [Int: [Int]] = [:]
    /// The alpha planes of each item.
    private var auxiliaries: [Int: [Int]] = [:]
    private var associations = (lists: 0, entries: 0)
    /// The items with premultiplied colors.
    private(set) var premultiplied: Set<Int> = []
    private(set) var types: [Int: Int] = [:]
    private(set) var exif: Int?
    /// The item with the XMP packet.
    private(set) var packet: Int?
    let locations: HEIFLocations

    private struct PropertyList {
        let start: Int
        let count: Int
        let hasLongPositions: Bool
    }

    /// The maximum number of items; a hundred tiles are usual, the largest phone photos have 800.
    static let maximumItems = 2_048
    /// The maximum number of properties; most are shared.
    private static let maximumProperties = 4 * maximumItems
    private static let maximumEntries = 5 * maximumItems

    static func all(_ bytes: RawSpan) throws(ImagingError) -> HEIFItems? {
        var boxes = BoxCursor(0..<bytes.byteCount)
        guard let meta = try boxes.next(of: BoxCursor.type("meta"), in: bytes)?.contents else { return nil }
        return try HEIFItems(bytes, meta: meta)
    }

    private init(_ bytes: RawSpan, meta: Range<Int>) throws(ImagingError) {
        guard meta.count >= 4 else { throw .cannotDecode(detail: "the HEIF file's meta box is empty") }
        locations = try HEIFLocations(bytes, meta: meta)
        var boxes = BoxCursor(meta.dropFirst(4))
        var kinds = Set(["pitm", "iinf", "iprp", "iref"].map(BoxCursor.type))
        // The first box of a type wins.
        while let box = try boxes.next(in: bytes) {
            guard kinds.remove(box.type) != nil else { continue }
            switch box.type {
            case BoxCursor.type("pitm"):
                let version = try bytes.byte(at: box.contents.lowerBound)
                let offset = box.contents.lowerBound + 4
                primary = try version == 0 ? bytes.bigEndian16(at: offset) : bytes.bigEndian32(at: offset)
            case BoxCursor.type("iinf"): try? readTypes(bytes, in: box.contents)
            case BoxCursor.type("iprp"): try readProperties(bytes, in: box.contents)
            case BoxCursor.type("iref"): try readReferences(bytes, in: box.contents)
            default: break
            }
        }
    }

    func properties(of item: Int, in bytes: RawSpan) throws(ImagingError) -> [HEIFProperty] {
        guard let entry = lists[item] else { return [] }
        guard let list = entry else { throw .cannotDecode(detail: "an item has two lists of properties") }
        var result: [HEIFProperty] = []
        result.reserveCapacity(list.count)
        for index in 0..<list.count {
            let position =
                try list.hasLongPositions
                ? bytes.bigEndian16(at: list.start + 2 * index) & 0x7FFF : bytes.byte(at: list.start + index) & 0x7F
            if properties.indices.contains(position - 1) { result.append(properties[position - 1]) }
        }
        return result
    }

    func showing(_ item: Int) -> HEIFItems {
        var items = self
        items.primary = item
        return items
    }

    func sources(of item: Int) -> [Int] { sources[item] ?? [] }

    func auxiliaries(of item: Int) -> [Int] { auxiliaries[item] ?? [] }

    /// Returns the item itself, or the item that it only turns or crops (`iden`).
    func shown(_ item: Int) -> Int { chain(from: item).last ?? item }

    func transform(of item: Int, in bytes: RawSpan) throws(ImagingError) -> HEIFTransform {
        let chain = chain(from: item)
        var result = try HEIFProperty.transform(by: properties(of: shown(item), in: bytes))
        for link in chain.dropLast().reversed() {
            for property in try properties(of: link, in: bytes) { try result.apply(property) }
        }
        return result
    }

    func size(of item: Int, in bytes: RawSpan) throws(ImagingError) -> PixelSize? {
        try properties(of: item, in: bytes).size
    }

    private func chain(from item: Int) -> [Int] {
        var chain = [item]
        while chain.count < HEIFWork.maximumDepth, let last = chain.last, types[last] == BoxCursor.type("iden"),
            sources(of: last).count == 1
        {
            chain += sources(of: last)
        }
        return chain
    }

    /// Reads `iinf` (ISO/IEC 14496-12 section 8.11.6); ignores damage.
    private mutating func readTypes(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) {
        let isShort = try bytes.byte(at: range.lowerBound) == 0
        var boxes = BoxCursor(range.dropFirst(isShort ? 6 : 8))
        for _ in 0..<Self.maximumItems {
            guard let box = try boxes.next(in: bytes) else { return }
            let start = box.contents.lowerBound
            // Items have types since version 2; version 3 has wider numbers.
            guard box.type == BoxCursor.type("infe"), case let version = try bytes.byte(at: start), version >= 2 else {
                continue
            }
            let typeOffset = start + (version == 2 ? 8 : 10)
            guard typeOffset + 4 <= box.contents.upperBound else { continue }
            let item = try version == 2 ? bytes.bigEndian16(at: start + 4) : bytes.bigEndian32(at: start + 4)
            let type = try bytes.bigEndian32(at: typeOffset)
            if types[item] == nil { types[item] = type }
            if type == BoxCursor.type("Exif"), exif == nil { exif = item }
            // The item's name and a null byte precede its media type.
            if type == BoxCursor.type("mime"), packet == nil,
                bytes.contains("application/rdf+xml", in: typeOffset + 4..<box.contents.upperBound)
            {
                packet = item
            }
        }
    }

    private mutating func readProperties(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) {
        var boxes = BoxCursor(range)
        while let box = try boxes.next(in: bytes) {
            if box.type == BoxCursor.type("ipma") {
                try readAssociations(bytes, in: box.contents)
            } else if box.type == BoxCursor.type("ipco") {
                var contents = BoxCursor(box.contents)
                while let property = try contents.next(in: bytes) {
                    guard properties.count < Self.maximumProperties else {
                        throw .cannotDecode(detail: "too many item properties")
                    }
                    properties.append(try HEIFProperty(bytes, box: property))
                }
            }
        }
    }

    private mutating func readAssociations(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) {
        let versionAndFlags = try bytes.bigEndian32(at: range.lowerBound)
        let hasLongItems = versionAndFlags >> 24 > 0
        let hasLongPositions = versionAndFlags & 1 == 1
        let count = try bytes.bigEndian32(at: range.lowerBound + 4)
        var offset = range.lowerBound + 8
        for _ in 0..<count {
            guard offset < range.upperBound else {
                throw .cannotDecode(detail: "the list of item properties is truncated")
            }
            associations.lists += 1
            guard associations.lists <= Self.maximumItems else { throw .cannotDecode(detail: "too many items") }
            let item = try hasLongItems ? bytes.bigEndian32(at: offset) : bytes.bigEndian16(at: offset)
            offset += hasLongItems ? 4 : 2
            let count = try bytes.byte(at: offset)
            associations.entries += count
            guard associations.entries <= Self.maximumEntries else {
                throw .cannotDecode(detail: "the items have too many properties")
            }
            let list = PropertyList(start: offset + 1, count: count, hasLongPositions: hasLongPositions)
            lists.updateValue(lists[item] == nil ? list : nil, forKey: item)
            offset += 1 + count * (hasLongPositions ? 2 : 1)
        }
    }

    private mutating func readReferences(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) {
        var total = 0
        // An item may refer to the same item repeatedly.
        var owners: [Int: Set<Int>] = [:]
        var references = try HEIFReferences(bytes, in: range)
        while let reference = try references.next(in: bytes) {
            // Alpha planes refer to their images, images to their sources (ISO/IEC 23008-12 section 6.4).
            let isAuxiliary = reference.type == BoxCursor.type("auxl")
            total += 1
            guard total <= ImageHeader.maximumDecoderRuns else { throw .cannotDecode(detail: "too many references") }
            if reference.type == BoxCursor.type("prem") { premultiplied.insert(try reference.source(in: bytes)) }
            guard isAuxiliary || reference.type == BoxCursor.type("dimg") else { continue }
            let from = try reference.source(in: bytes)
            let targets = try reference.targets(in: bytes)
            total += max(0, targets.count - 1)
            guard total <= ImageHeader.maximumDecoderRuns else { throw .cannotDecode(detail: "too many references") }
            if !isAuxiliary { sources[from, default: []] += targets }
            for target in targets where isAuxiliary && owners[from, default: []].insert(target).inserted {
                auxiliaries[target, default: []].append(from)
            }
        }
    }
}
