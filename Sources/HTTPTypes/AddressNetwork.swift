import Text

/// A block of addresses that share a prefix, such as `10.0.0.0/8` (RFC 4632, RFC 4291 section 2.3).
package struct AddressNetwork: Hashable, Sendable, CustomStringConvertible {
    private let address: IPAddress
    private let prefixLength: Int

    /// Parses `ADDRESS/LENGTH` or `ADDRESS`; nil for anything else, including bits after the prefix.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let address = IPAddress(parts[0]) else { return nil }
        let width = address.isV6 ? 128 : 32
        var length = width
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy(\.isASCIIDigit),
                let number = Int(parts[1]), number <= width
            else { return nil }
            length = number
        }
        guard Self.isPrefix(of: address, length: length) else { return nil }
        self.address = address
        prefixLength = length
    }

    package func contains(_ other: IPAddress) -> Bool {
        switch (address, other) {
        case (.v4(let prefix), .v4(let bits)):
            (bits ^ prefix) >> UInt32(32 - prefixLength) == 0
        case (.v6(let high, let low), .v6(let otherHigh, let otherLow)):
            prefixLength <= 64
                ? (high ^ otherHigh) >> UInt64(64 - prefixLength) == 0
                : high == otherHigh && (low ^ otherLow) >> UInt64(128 - prefixLength) == 0
        default: false
        }
    }

    package func overlaps(_ other: AddressNetwork) -> Bool { contains(other.address) || other.contains(address) }

    package var keyText: String { "\(address.description)/\(prefixLength)" }

    package var description: String { keyText }

    private static func isPrefix(of address: IPAddress, length: Int) -> Bool {
        switch address {
        case .v4(let bits): bits << UInt32(length) == 0
        case .v6(let high, let low):
            length <= 64 ? high << UInt64(length) == 0 && low == 0 : low << UInt64(length - 64) == 0
        }
    }
}
