import HTTPTypes
import Testing

struct AddressNetworkTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false), ("0.0.0.0/0", "8.8.8.8", true),
        ("192.168.1.1/32", "192.168.1.1", true), ("192.168.1.1", "192.168.1.2", false), ("0.0.0.0/0", "::1", false),
        ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("::1/128", "::1", true), ("::1", "::2", false),
        ("2001:db8:0:0:8000::/65", "2001:db8::8000:0:0:1", true), ("2001:db8:0:0:8000::/65", "2001:db8::1", false),
        ("::/0", "2606::1", true),
    ])
    func `a network contains the addresses that share its prefix`(
        network: String, address: String, isInside: Bool
    ) throws {
        #expect(try #require(AddressNetwork(network)).contains(try #require(IPAddress(address))) == isInside)
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/-1", "10.0.0.0/", "10/8", "fd00::/129", "fd00::1/64", "x/8",
    ])
    func `an invalid network is rejected`(text: String) {
        #expect(AddressNetwork(text) == nil)
    }

    @Test func `an address is written as it is parsed`() throws {
        for text in ["127.0.0.1", "255.255.255.255", "::1", "2606:2800:220:1::1", "fd00:ec2::254"] {
            #expect(try #require(IPAddress(text)).description == text)
        }
        #expect(IPAddress("127.1") == nil)
        #expect(IPAddress("fe80::1%lo") == nil)
    }
}
