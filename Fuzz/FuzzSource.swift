import Downloading
import HTTPTypes

/// URLs of sources, redirects and origins' paths: whatever is taken has one spelling, and stays where it may be.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    if let url = try? SourceURL(parsing: text) { check(url) }
    if let target = try? places.base.redirected(to: text) { check(target) }
    for name in ["web", "signed", "folder"] {
        guard let identity = try? places.rules.identity(of: "\(name):\(text)") else { continue }
        precondition(identity.originName == name, "\(text) left its origin's name")
        if name == "folder" {
            let segments = identity.url.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            precondition(segments.allSatisfy { !["", ".", ".."].contains($0) }, "\(text) leads out of the folder")
        } else {
            check(identity.target)
            precondition(identity.target.origin == places.base.origin, "\(text) leads to another host")
            precondition(
                name != "signed" || identity.target.path.hasPrefix("/base/"), "\(text) leads out of the bucket")
        }
    }
    if let pattern = SourcePattern(text) { _ = pattern.matches(places.base) }
    if let network = AddressNetwork(text) {
        precondition(AddressNetwork(network.description) == network, "\(network) is another network when read again")
    }
    return 0
}

private func check(_ url: SourceURL) {
    guard let again = try? SourceURL(parsing: url.canonical) else { fatalError("\(url) is no URL when read again") }
    precondition(again.canonical == url.canonical, "\(url) has another spelling: \(again)")
    precondition(again.origin == url.origin && again.path == url.path, "\(url) is another when read again")
    precondition(url.scheme == "http" || url.scheme == "https", "\(url) has another scheme")
    precondition(url.canonical.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "\(url) holds bytes that no URL has")
    if let address = url.address { precondition(address.unmapped == address, "\(url) hides an IPv4 address") }
}

private let places = Places()

private struct Places: Sendable {
    let base: SourceURL
    let rules: DownloadRules

    init() {
        guard let base = try? SourceURL(parsing: "https://example.com/base") else { fatalError("no base") }
        self.base = base
        var signed = Origin(name: "signed", location: .web(base: base))
        signed.credentials = .signature(.fixed(.init(id: "id", secret: Secret("secret"))), region: "eu")
        var web = Origin(name: "web", location: .web(base: base))
        web.ignoredParameters = ["x"]
        rules = DownloadRules(
            DownloadConfiguration(origins: [web, signed, Origin(name: "folder", location: .folder(path: "/srv"))]))
    }
}
