package struct HTTPFields: Sendable, RandomAccessCollection {
    private var shared: [HTTPField]
    private var added: [HTTPField]

    package init(_ fields: [HTTPField] = []) {
        shared = []
        added = fields
    }

    package init(continuing fields: HTTPFields) {
        shared = fields.shared.isEmpty ? fields.added : fields.shared + fields.added
        added = []
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { shared.count + added.count }
    package subscript(position: Int) -> HTTPField {
        position < shared.count ? shared[position] : added[position - shared.count]
    }

    package func forEach(_ body: (borrowing HTTPField) -> Void) {
        Self.forEach(in: shared, body)
        Self.forEach(in: added, body)
    }

    /// An array's iterator copies each element, which changes two reference counts.
    private static func forEach(in fields: [HTTPField], _ body: (borrowing HTTPField) -> Void) {
        let fields = fields.span
        for index in fields.indices { body(fields[index]) }
    }

    /// The values joined with `, ` (RFC 9110 section 5.3); setting it replaces all fields of this name by one.
    package subscript(name: HTTPField.Name) -> String? {
        get {
            var joined: String?
            forEach { field in
                if field.name == name { joined = joined.map { $0 + ", " + field.value } ?? field.value }
            }
            return joined
        }
        set {
            added = filter { $0.name != name }
            shared = []
            if let newValue { append(name, newValue) }
        }
    }

    package func values(of name: HTTPField.Name) -> [String] { compactMap { $0.name == name ? $0.value : nil } }

    package func contains(_ name: HTTPField.Name) -> Bool {
        var isFound = false
        forEach { if $0.name == name { isFound = true } }
        return isFound
    }

    package mutating func append(_ field: HTTPField) { added.append(field) }

    package mutating func append(_ name: HTTPField.Name, _ value: String) {
        added.append(HTTPField(name: name, value: value))
    }

    package mutating func reserveCapacity(_ count: Int) { added.reserveCapacity(added.count + count) }
}

extension HTTPFields: Hashable {
    package static func == (left: HTTPFields, right: HTTPFields) -> Bool { left.elementsEqual(right) }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        forEach { hasher.combine($0) }
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init(elements.map { HTTPField(name: $0.0, value: $0.1) })
    }
}
