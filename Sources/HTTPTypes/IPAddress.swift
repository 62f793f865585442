package import Glibc

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
            self.init(networkOrder: six)
        } else {
            return nil
        }
    }

    package init(networkOrder address: in6_addr) {
        let halves = unsafe withUnsafeBytes(of: address) { bytes in
            unsafe (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self = .v6(UInt64(bigEndian: halves.0), UInt64(bigEndian: halves.1))
    }

    package init(_ peer: PeerAddress) { self = IPAddress.v6(peer.high, peer.low).unmapped }

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
