import Crypto
package import HTTPTypes
import Memory
import Text

/// The client fields that are forwarded to a named origin.
package struct ClientFields: Sendable, Hashable, Redacted {
    package struct TooLong: Error, Equatable {
        package let name: HTTPField.Name
    }

    /// Maximum bytes of a value.
    package static let maximumLength = 4 << 10
    /// A random key per process, so that digests cannot be compared with guesses.
    private static let key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }

    let names: [HTTPField.Name]
    /// `Name: value` as null-terminated bytes; each scalar of a field value is one byte.
    let lines: [[CChar]]
    package let digest: [UInt8]

    /// Returns nil if the client sent none of the fields.
    init?(_ fields: HTTPFields, to forwarded: [ForwardedField]) throws(TooLong) {
        var values: [(name: HTTPField.Name, value: String)] = []
        for field in forwarded {
            guard let value = field.value(in: fields) else { continue }
            if let index = values.firstIndex(where: { $0.name == field.name }) {
                values[index].value += "; " + value
            } else {
                values.append((field.name, value))
            }
        }
        guard !values.isEmpty else { return nil }
        var message: [UInt8] = []
        var lines: [[CChar]] = []
        for (name, value) in values {
            let bytes = value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            guard bytes.count <= Self.maximumLength else { throw TooLong(name: name) }
            let line = Array("\(name.rawName): ".utf8) + bytes
            lines.append(line.map { CChar(bitPattern: $0) } + [0])
            message += line.count.littleEndianBytes() + line
        }
        names = values.map(\.name)
        self.lines = lines
        digest = HMAC.authenticationCode(for: message, key: Self.key)
    }

    var byteCount: Int { lines.reduce(256) { $0 + $1.count } }

    package static func == (left: ClientFields, right: ClientFields) -> Bool { left.digest == right.digest }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
