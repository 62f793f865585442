import CFaces

/// A cascade of MB-LBP stumps in OpenCV's XML format.
struct CascadeFile {
    let cascade: [UInt8]

    /// Maximum bytes of a file; Debian's have 55,000.
    private static let maximumSize = 1 << 20

    init?(_ file: [UInt8], for use: CFacesUse) {
        guard file.count <= Self.maximumSize, let root = XMLElement(document: file), root.name == "opencv_storage",
            let classifier = root["cascade"], classifier["featureType"]?.word == "LBP",
            classifier["stageType"]?.word == "BOOST", let width = classifier["width"]?.numbers().first,
            let height = classifier["height"]?.numbers().first, let stages = classifier["stages"]?.children,
            let rectangles = classifier["features"]?.children.map({ $0["rect"]?.numbers() ?? [] })
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: CFaces_cascade_size())
        let isValid = unsafe bytes.withUnsafeMutableBytes { bytes -> Bool in
            guard let cascade = OpaquePointer(bytes.baseAddress) else { return false }
            unsafe CFaces_begin(cascade, width, height, use)
            for stage in stages {
                for stump in stage["weakClassifiers"]?.children ?? [] {
                    guard var stump = CFacesClassifier(stump, rectangles: rectangles),
                        unsafe CFaces_add(cascade, &stump) == 1
                    else { return false }
                }
                guard let threshold = stage["stageThreshold"]?.fractions.first,
                    unsafe CFaces_end_stage(cascade, threshold) == 1
                else { return false }
            }
            return unsafe CFaces_is_valid(cascade) == 1
        }
        guard isValid else { return nil }
        cascade = bytes
    }
}

extension CFacesClassifier {
    /// The node of a stump has two leaves, a feature, and the 256 patterns of the first leaf.
    fileprivate init?(_ stump: XMLElement, rectangles: [[Int32]]) {
        let node = stump["internalNodes"]?.numbers() ?? []
        let votes = stump["leafValues"]?.fractions ?? []
        guard node.count == 11, node[0] == 0, node[1] == -1, rectangles.indices.contains(Int(node[2])), votes.count == 2
        else {
            return nil
        }
        let rectangle = rectangles[Int(node[2])]
        guard rectangle.count == 4 else { return nil }
        self.init()
        x = rectangle[0]
        y = rectangle[1]
        width = rectangle[2]
        height = rectangle[3]
        vote = votes[0]
        vote_of_others = votes[1]
        let listed = node[3...].map { UInt32(bitPattern: $0) }
        patterns = (listed[0], listed[1], listed[2], listed[3], listed[4], listed[5], listed[6], listed[7])
    }
}

/// XML without document types, references and CDATA sections; attributes are ignored.
private struct XMLElement {
    private(set) var name = ""
    private(set) var children: [XMLElement] = []
    private var text: [UInt8] = []

    private static let maximumDepth = 16

    init?(document: [UInt8]) {
        var offset = 0
        guard let root = Self.element(document, at: &offset, depth: 0) else { return nil }
        self = root
    }

    private init() {}

    /// Parses an element; nil if its end tag is missing.
    private static func element(_ bytes: [UInt8], at offset: inout Int, depth: Int) -> XMLElement? {
        guard depth < maximumDepth, skipMarkup(bytes, at: &offset), let tag = tag(bytes, at: &offset), !tag.isEnd else {
            return nil
        }
        var element = XMLElement()
        element.name = tag.name
        while skipMarkup(bytes, at: &offset, into: &element.text) {
            var next = offset
            guard let end = self.tag(bytes, at: &next) else { return nil }
            if end.isEnd {
                offset = next
                return end.name == tag.name ? element : nil
            }
            guard let child = self.element(bytes, at: &offset, depth: depth + 1) else { return nil }
            element.children.append(child)
        }
        return nil
    }

    private static func skipMarkup(_ bytes: [UInt8], at offset: inout Int) -> Bool {
        var text: [UInt8] = []
        return skipMarkup(bytes, at: &offset, into: &text)
    }

    /// Collects text up to the next tag, and skips comments and instructions; false for a malformed file.
    private static func skipMarkup(_ bytes: [UInt8], at offset: inout Int, into text: inout [UInt8]) -> Bool {
        while let start = bytes[offset...].firstIndex(of: UInt8(ascii: "<")) {
            text += bytes[offset..<start]
            offset = start
            let rest = bytes[start...]
            let isComment = rest.starts(with: "<!--".utf8)
            guard isComment || rest.starts(with: "<?".utf8) else { return !rest.starts(with: "<!".utf8) }
            let end = Array((isComment ? "-->" : "?>").utf8)
            var last = start + (isComment ? 4 : 2)
            while !bytes[last...].starts(with: end) {
                guard last < bytes.count else { return false }
                last += 1
            }
            offset = last + end.count
        }
        return false
    }

    private static func tag(_ bytes: [UInt8], at offset: inout Int) -> (name: String, isEnd: Bool)? {
        guard let end = bytes[offset...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
        var content = bytes[(offset + 1)..<end]
        let isEnd = content.first == UInt8(ascii: "/")
        if isEnd { content = content.dropFirst() }
        let name = content.prefix { $0 > 0x20 }
        guard !name.isEmpty, content.last != UInt8(ascii: "/"), !content.contains(UInt8(ascii: "<")) else { return nil }
        offset = end + 1
        return (String(decoding: name, as: UTF8.self), isEnd)
    }

    subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    private var words: [Substring] { String(decoding: text, as: UTF8.self).split { $0.isASCII && $0.isWhitespace } }

    var word: String { words.first.map(String.init) ?? "" }

    /// Parses a list of integers; empty if one is invalid.
    func numbers() -> [Int32] {
        let numbers = words.map { Int32($0) }
        return numbers.contains(nil) ? [] : numbers.compactMap(\.self)
    }

    var fractions: [Double] {
        let numbers = words.map { Double($0) }
        return numbers.contains(nil) ? [] : numbers.compactMap(\.self)
    }
}
