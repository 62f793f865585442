import Glibc
package import HTTPTypes

package enum IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 address in host byte order: 127.0.0.1 is 0x7f000001.
    case v4(UInt32)
    /// An IPv6 address: the upper and lower 64 bits in host byte order.
    case v6(UInt64, UInt64)

    /// Parses a dotted-decimal IPv4 address or an IPv6 address (RFC 4291 section 2.2); nil for anything else.
    package init?(_ text: String) {
        var four: UInt32 = 0
        var six = in6_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            self = .v4(UInt32(bigEndian: four))
        } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            self.init(six)
        } else {
            return nil
        }
    }

    @unsafe
    init?(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else { return nil }
        // Read by offset: several C modules declare these structures, so Swift finds their members ambiguous.
        let raw = unsafe UnsafeRawPointer(address)
        switch Int32(unsafe raw.load(as: sa_family_t.self)) {
        case AF_INET:
            self = .v4(UInt32(bigEndian: unsafe raw.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6:
            self.init(unsafe raw.loadUnaligned(fromByteOffset: 8, as: in6_addr.self))
        default:
            return nil
        }
    }

    private init(_ address: in6_addr) {
        let halves = unsafe withUnsafeBytes(of: address) { bytes in
            unsafe (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self = .v6(UInt64(bigEndian: halves.0), UInt64(bigEndian: halves.1))
    }

    /// The IPv4 address inside an IPv4-mapped one (`::ffff:0:0/96`), otherwise the address itself.
    package var unmapped: IPAddress {
        if case .v6(0, let low) = self, low >> 32 == 0xffff { return .v4(UInt32(truncatingIfNeeded: low)) }
        return self
    }

    package var isV6: Bool { if case .v6 = self { true } else { false } }

    package var description: String {
        switch self {
        case .v4(let bits):
            return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
        case .v6(let high, let low):
            var address = in6_addr()
            unsafe withUnsafeMutableBytes(of: &address) { bytes in
                unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
                unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            unsafe inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}

extension ClientNetwork {
    /// All clients without a known address share one network.
    package init(of client: IPAddress?) {
        switch client?.unmapped {
        case .v4(let address): self.init(bits: UInt64(address))
        case .v6(let network, _): self.init(bits: network)
        case nil: self.init(bits: nil)
        }
    }
}
