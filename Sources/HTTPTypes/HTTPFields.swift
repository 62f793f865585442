/// Header fields in the order in which they were received or are sent.
///
/// Values made with ``init(continuing:)`` share their first fields: adding more copies none of those.
package struct HTTPFields: Sendable, RandomAccessCollection {
    private var shared: [HTTPField]
    private var own: [HTTPField]

    /// The fields of an array, in its order.
    package init(_ fields: [HTTPField] = []) {
        shared = []
        own = fields
    }

    /// The same fields; many values that continue them share them.
    package init(continuing fields: HTTPFields) {
        shared = fields.shared.isEmpty ? fields.own : fields.shared + fields.own
        own = []
    }

    /// Position of the first field.
    package var startIndex: Int { 0 }
    /// Position after the last field.
    package var endIndex: Int { shared.count + own.count }
    /// The field at `position`.
    package subscript(position: Int) -> HTTPField {
        position < shared.count ? shared[position] : own[position - shared.count]
    }

    /// Calls `body` with each field, in order.
    package func forEach(_ body: (borrowing HTTPField) -> Void) {
        Self.forEach(in: shared, body)
        Self.forEach(in: own, body)
    }

    /// Reads a span, because an array's iterator copies each element, which changes two reference counts.
    private static func forEach(in fields: [HTTPField], _ body: (borrowing HTTPField) -> Void) {
        let fields = fields.span
        for index in fields.indices { body(fields[index]) }
    }

    /// The values of all fields of this name joined with `, ` (RFC 9110 section 5.3), nil without one.
    ///
    /// Setting it replaces all of them by one field.
    package subscript(name: HTTPField.Name) -> String? {
        get {
            var joined: String?
            forEach { field in
                if field.name == name { joined = joined.map { $0 + ", " + field.value } ?? field.value }
            }
            return joined
        }
        set {
            own = filter { $0.name != name }
            shared = []
            if let newValue { append(name, newValue) }
        }
    }

    /// The value of each field line of this name, in order.
    package func values(of name: HTTPField.Name) -> [String] {
        compactMap { $0.name == name ? $0.value : nil }
    }

    /// Whether there is a field of this name.
    package func contains(_ name: HTTPField.Name) -> Bool {
        var isFound = false
        forEach { if $0.name == name { isFound = true } }
        return isFound
    }

    /// Adds a field line at the end.
    package mutating func append(_ field: HTTPField) {
        own.append(field)
    }

    /// Adds a field line at the end.
    package mutating func append(_ name: HTTPField.Name, _ value: String) {
        own.append(HTTPField(name: name, value: value))
    }

    /// Reserves room for `count` fields to be added.
    package mutating func reserveCapacity(_ count: Int) {
        own.reserveCapacity(own.count + count)
    }
}

extension HTTPFields: Hashable {
    /// Whether both have the same fields in the same order.
    package static func == (left: HTTPFields, right: HTTPFields) -> Bool { left.elementsEqual(right) }

    /// Hashes the fields in their order.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        forEach { hasher.combine($0) }
    }
}
