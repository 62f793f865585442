import HTTPTypes
import Testing

@testable import Downloading

struct AddressPolicyTests {
    @Test(arguments: [
        "0.0.0.0", "0.255.255.255", "10.0.0.1", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.254",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1",
        "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255", "168.63.129.16",
    ])
    func `special IPv4 addresses are denied, also inside IPv6`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!AddressPolicy.isPublic(address))
        let inside = [
            "::ffff:\(text)", "::\(text)", "64:ff9b::\(text)", "64:ff9b:1::\(text)", "2606:2800:220:1:0:5efe:\(text)",
        ]
        for text in inside {
            #expect(!AddressPolicy.isPublic(try #require(IPAddress(text))), "\(text)")
        }
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "168.63.129.15",
        "168.63.129.17", "2606:2800:220:1::1", "2001:200::1", "2a00::1", "::ffff:8.8.8.8",
    ])
    func `public addresses are allowed`(text: String) throws {
        #expect(AddressPolicy.isPublic(try #require(IPAddress(text))))
    }

    @Test(arguments: [
        "::", "::1", "::8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:10::1", "2001:1ff::1",
        "2001:db8::1", "2002:808:808::1", "3fff::1", "3fff:fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1",
        "fec0::1", "ff02::1", "2606:2800:220:1:0:5efe:808:808", "2606:2800:220:1:200:5efe:808:808",
    ])
    func `IPv6 addresses that are not global unicast, or hide others, are denied`(text: String) throws {
        #expect(!AddressPolicy.isPublic(try #require(IPAddress(text))))
    }

    @Test func `public addresses are open on the allowed ports only, and not if they are this host's`() throws {
        let policy = AddressPolicy()
        let address = try #require(IPAddress("8.8.8.8"))
        #expect(policy.allows(address, port: 80, localAddresses: []))
        #expect(policy.allows(address, port: 443, localAddresses: []))
        #expect(!policy.allows(address, port: 8080, localAddresses: []))
        #expect(!policy.allows(address, port: 80, localAddresses: [address]))
    }

    @Test func `a network is opened on any port, own addresses included, and no other network`() throws {
        let policy = AddressPolicy(allowedNetworks: [try #require(AddressNetwork("10.1.0.0/16"))])
        let inside = try #require(IPAddress("10.1.2.3"))
        #expect(policy.allows(inside, port: 9000, localAddresses: [inside]))
        #expect(policy.allows(try #require(IPAddress("::ffff:10.1.2.3")), port: 9000, localAddresses: []))
        #expect(!policy.allows(try #require(IPAddress("10.2.0.1")), port: 80, localAddresses: []))
    }

    @Test func `an endpoint is opened on its port only`() throws {
        let address = try #require(IPAddress("127.0.0.1"))
        let policy = AddressPolicy(allowedEndpoints: [AllowedEndpoint(address: address, port: 9000)])
        #expect(policy.allows(address, port: 9000, localAddresses: [address]))
        #expect(!policy.allows(address, port: 80, localAddresses: []))
        #expect(!policy.allows(try #require(IPAddress("127.0.0.2")), port: 9000, localAddresses: []))
        #expect(policy.mayAllow(port: 9000))
        #expect(!policy.mayAllow(port: 9001))
    }
}
