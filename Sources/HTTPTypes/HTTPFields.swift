/// Header fields in the order in which they came or go.
package struct HTTPFields: Hashable, Sendable, RandomAccessCollection {
    private var fields: [HTTPField]

    /// The fields of an array, in its order.
    package init(_ fields: [HTTPField] = []) {
        self.fields = fields
    }

    /// Position of the first field.
    package var startIndex: Int { fields.startIndex }
    /// Position after the last field.
    package var endIndex: Int { fields.endIndex }
    /// The field at `position`.
    package subscript(position: Int) -> HTTPField { fields[position] }

    /// The values of all fields of this name joined with `, ` (RFC 9110 section 5.3), nil without one; setting replaces them all.
    package subscript(name: HTTPField.Name) -> String? {
        get {
            var joined: String?
            for field in fields where field.name == name {
                joined = joined.map { $0 + ", " + field.value } ?? field.value
            }
            return joined
        }
        set {
            fields.removeAll { $0.name == name }
            if let newValue { fields.append(HTTPField(name: name, value: newValue)) }
        }
    }

    /// The value of each field line of this name, in order.
    package func values(of name: HTTPField.Name) -> [String] {
        fields.compactMap { $0.name == name ? $0.value : nil }
    }

    /// Whether a field of this name is there.
    package func contains(_ name: HTTPField.Name) -> Bool {
        fields.contains { $0.name == name }
    }

    /// Adds a field line at the end.
    package mutating func append(_ field: HTTPField) {
        fields.append(field)
    }

    /// Adds a field line at the end.
    package mutating func append(_ name: HTTPField.Name, _ value: String) {
        fields.append(HTTPField(name: name, value: value))
    }

    /// Reserves room for `count` fields.
    package mutating func reserveCapacity(_ count: Int) {
        fields.reserveCapacity(count)
    }
}
