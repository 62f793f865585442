import Coordination
import Downloading
import HTTPTypes
import TestSupport
import Testing

/// No spelling of a denied address in a request or redirect leads to a connection.
@Suite(.timeLimit(.minutes(1)))
struct AddressSpellingTests {
    /// Loopback, unspecified, private, link-local, shared, documentation, reserved and cloud providers' addresses.
    static let denied: [UInt32] = [
        0x7f00_0001, 0x7fff_fffe, 0x0000_0000, 0x0001_0203, 0x0a00_0001, 0xac10_0001, 0xac1f_fffe, 0xc0a8_0001,
        0xa9fe_a9fe, 0xa9fe_aa02, 0xa83f_8110, 0x6440_0001, 0x6464_64c8, 0x647f_fffe, 0xc000_00c0, 0xc000_0201,
        0xc058_6301, 0xc612_0001, 0xc613_fffe, 0xc633_6401, 0xcb00_7101, 0xe000_0001, 0xf000_0001, 0xffff_ffff,
    ]

    /// Notations of an IPv4 address that some parser accepts.
    enum Spelling: CaseIterable {
        case dotted, number, hexadecimalNumber, octalNumber, hexadecimalParts, octalParts, twoParts, threeParts
        case trailingDot, fullWidth, ideographicDots, circled, escaped
        case mapped, mappedHexadecimal, compatible, nat64, localNAT64, sixToFour, teredo, isatap, globalISATAP

        func host(_ address: UInt32) -> String {
            let parts = [24, 16, 8, 0].map { address >> UInt32($0) & 255 }
            let dotted = parts.map { String($0) }.joined(separator: ".")
            let hexadecimal = "\(hex(address >> 16)):\(hex(address & 0xffff))"
            switch self {
            case .dotted: return dotted
            case .number: return String(address)
            case .hexadecimalNumber: return "0x\(hex(address))"
            case .octalNumber: return "0\(String(address, radix: 8))"
            case .hexadecimalParts: return parts.map { "0x\(hex($0))" }.joined(separator: ".")
            case .octalParts: return parts.map { "0000000" + String($0, radix: 8) }.joined(separator: ".")
            case .twoParts: return "\(parts[0]).\(address & 0xff_ffff)"
            case .threeParts: return "\(parts[0]).\(parts[1]).\(address & 0xffff)"
            case .trailingDot: return dotted + "."
            case .fullWidth: return shifted(dotted, by: 0xff10)
            case .ideographicDots: return dotted.replacing(".", with: "\u{3002}")
            case .circled: return shifted(dotted.replacing("0", with: "\u{24ea}"), by: 0x2460 - 1)
            case .escaped: return dotted.utf8.map { "%" + hex(UInt32($0)) }.joined()
            case .mapped: return "[::ffff:\(dotted)]"
            case .mappedHexadecimal: return "[::ffff:\(hexadecimal)]"
            case .compatible: return "[::\(dotted)]"
            case .nat64: return "[64:ff9b::\(dotted)]"
            case .localNAT64: return "[64:ff9b:1::\(dotted)]"
            case .sixToFour: return "[2002:\(hexadecimal)::1]"
            case .teredo: return "[2001::\(hexadecimal)]"
            case .isatap: return "[2606:2800:220:1:0:5efe:\(hexadecimal)]"
            case .globalISATAP: return "[2606:2800:220:1:200:5efe:\(hexadecimal)]"
            }
        }

        private func hex(_ number: UInt32) -> String { String(number, radix: 16) }

        private func shifted(_ text: String, by offset: UInt32) -> String {
            String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { scalar in
                        guard (0x30...0x39).contains(scalar.value) else { return scalar }
                        return Unicode.Scalar(scalar.value - 0x30 + offset) ?? scalar
                    }))
        }
    }

    /// URLs that are dangerous for other reasons than the notation of an IPv4 address.
    static let others = [
        "http://[::1]", "http://[::]", "http://[fe80::1]", "http://[fec0::1]", "http://[fd00:ec2::254]",
        "http://[fc00::1]", "http://[ff02::1]", "http://[2001:db8::1]", "http://[3fff::1]", "http://[100::1]",
        "http://[fe80::1%25lo]", "http://[::ffff:0:127.0.0.1]", "http://localhost", "http://LOCALHOST.",
        "http://foo.localhost", "http://localhost.localdomain", "http://user@127.0.0.1", "http://127.0.0.1@[::1]",
        "http://[::1]\\@example.com", "http:127.0.0.1", "http:///127.0.0.1", "file://127.0.0.1", "gopher://127.0.0.1",
        "ftp://127.0.0.1", "dict://127.0.0.1", "ws://127.0.0.1", "http://loc\u{ad}alhost", "http://ⓛocalhost",
        "http://127.0.0.1\u{0}.example.com", "http://127.0.0.1%00.example.com", "http://①②⑦.⓪.⓪.①",
    ]

    @Test(arguments: Spelling.allCases)
    func `a denied address is not dialed in any spelling`(spelling: Spelling) async throws {
        let fixture = try SpellingFixture()
        for address in Self.denied {
            try await fixture.expectRefusal("http://" + spelling.host(address))
        }
        #expect(fixture.traps.allSatisfy { $0.connectionCount == 0 })
    }

    @Test func `no other path leads to this machine`() async throws {
        let fixture = try SpellingFixture()
        for prefix in Self.others { try await fixture.expectRefusal(prefix) }
        #expect(fixture.traps.allSatisfy { $0.connectionCount == 0 })
    }

    @Test func `the traps detect accepted connections`() async throws {
        let fixture = try SpellingFixture(networks: ["127.0.0.0/8"])
        await #expect(throws: DownloadError.notFound(404)) { try await fixture.load("http://127.0.0.1") }
        #expect(fixture.traps.map(\.connectionCount) == [1, 0])
    }
}

/// Listeners on denied addresses, and an allowed origin that redirects to them.
private struct SpellingFixture {
    let traps: [FakeOrigin]
    private let origin: FakeOrigin
    private let names: FakeNameServer
    private let loader: CurlLoader
    private let rules: DownloadRules

    init(networks: [String] = ["127.9.9.9/32"]) throws {
        let first = try FakeOrigin()
        traps = [first, try FakeOrigin(address: "127.255.255.254", port: first.port)]
        origin = try FakeOrigin(address: "127.9.9.9")
        names = try FakeNameServer()
        var configuration = DownloadConfiguration()
        configuration.allowedNetworks = networks.compactMap { AddressNetwork($0) }
        configuration.allowedPorts = [80, 443, first.port]
        configuration.nameServers = names.endpoint
        rules = DownloadRules(configuration)
        loader = try CurlLoader(configuration: configuration)
    }

    /// Expects URLs with this prefix and the traps' port to be rejected in requests and in redirects.
    func expectRefusal(_ prefix: String) async throws {
        await expectRefusal(of: prefix) { try await load(prefix) }
        origin.serve("/away", .redirect(to: "\(prefix):\(traps[0].port)/a.png"))
        await expectRefusal(of: prefix) { try await load(origin.url("/away"), isWhole: true) }
    }

    func load(_ prefix: String, isWhole: Bool = false) async throws {
        let url = try SourceURL(parsing: isWhole ? prefix : "\(prefix):\(traps[0].port)/a.png")
        let identity = SourceIdentity(url: url, rules: rules.unnamed)
        _ = try await loader.load(TransferRequest(identity: identity), progress: TransferProgress())
    }

    private func expectRefusal(of prefix: String, _ body: () async throws -> Void) async {
        await #expect {
            try await body()
        } throws: { error in
            // An unknown name does not resolve, and a control character ends the response header.
            let isRejected = error is SourceURLError || isDenied(error, by: "")
            let isNowhere =
                (isUnreachable(error) || hasNoAddress(error)) && prefix.contains("localhost") || isProtocolError(error)
            if !isRejected && !isNowhere { Issue.record("\(prefix): \(error)") }
            return true
        }
    }
}
