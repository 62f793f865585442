/// How sources are fetched, and which sources are allowed.
package struct DownloadConfiguration: Sendable {
    /// In which order queued downloads start.
    package enum Order: String, Sendable, CaseIterable {
        /// First in, first out.
        case fifo
        /// Last in, first out, but never past half of an older request's time.
        case lifo
    }

    /// Running transfers in the whole process.
    package var maximumActiveDownloads = 32
    /// Running transfers to one host and port.
    package var maximumActiveDownloadsPerHost = 8
    /// In which order queued downloads start.
    package var order = Order.fifo
    /// Queued downloads; beyond them a new one is refused.
    package var maximumQueuedDownloads = 1024
    /// How long looking up a name and connecting may take together.
    package var connectTimeout = Duration.seconds(3)
    /// How long an origin may be silent between the request and the first byte.
    package var firstByteTimeout = Duration.seconds(5)
    /// How long a whole transfer may take, redirects included.
    package var downloadTimeout = Duration.seconds(10)
    /// Bytes that must arrive in every `lowSpeedInterval` once the answer has begun.
    package var lowSpeedBytes = 16 << 10
    /// The interval in which `lowSpeedBytes` must arrive.
    package var lowSpeedInterval = Duration.seconds(3)
    /// Largest body, in bytes.
    package var maximumBytes = 64 << 20
    /// Most redirects that are followed.
    package var maximumRedirects = 5
    /// Networks that may serve sources although they are not public, on any port.
    package var allowedNetworks: [AddressNetwork] = []
    /// Networks that serve no sources although they are public or allowed; named origins may lie there.
    package var deniedNetworks: [AddressNetwork] = []
    /// Single endpoints that may serve sources although they are not public.
    package var allowedEndpoints: [AllowedEndpoint] = []
    /// Ports of public sources.
    package var allowedPorts: Set<Int> = [80, 443]
    /// Patterns one of which a URL must match, redirects' targets included; empty allows all.
    package var allowedSources: [SourcePattern] = []
    /// Whether there are sources besides those of named origins.
    package var allowsUnnamedSources = true
    /// Places that an operator has named.
    package var origins = Origins()
    /// How long stale sources may be used if their origin does not say.
    package var staleAllowances = StaleAllowances()
    /// How long a 404 or 410 of an origin is remembered.
    package var notFoundMemory = Duration.seconds(60)
    /// How long other failures of an origin are remembered.
    package var failureMemory = Duration.seconds(5)
    /// `User-Agent` of our requests.
    package var userAgent = "Alula/1"
    /// `Accept` of our requests.
    package var accept = "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8,*/*;q=0.1"
    /// The service's name in `CDN-Loop` of our requests (RFC 8586); nil for no such field.
    package var loopName: String?
    /// Name servers as `ADDRESS:PORT` separated by commas; nil for the system's.
    package var nameServers: String?
    /// A file of certificate authorities in PEM instead of the system's.
    package var certificateAuthorities: String?

    package init() {}

    /// The address policy of these settings.
    package var addressPolicy: AddressPolicy {
        AddressPolicy(
            allowedNetworks: allowedNetworks, deniedNetworks: deniedNetworks, allowedEndpoints: allowedEndpoints,
            allowedPorts: allowedPorts)
    }

    /// Whether the patterns allow `url`.
    package func allows(_ url: SourceURL) -> Bool {
        allowsUnnamedSources && (allowedSources.isEmpty || allowedSources.contains { $0.matches(url) })
    }

    /// The setting that forbids `url` whatever the addresses of its host are, and what it forbids; nil if there is
    /// none.
    ///
    /// - Parameter isCall: Whether the URL is no source's: then the settings about addresses and ports count alone.
    func objection(to url: SourceURL, isCall: Bool = false) -> String? {
        guard isCall || allows(url) else {
            return "allowedSources: none of the patterns fits \(url.origin)\(url.path.prefix(200))"
        }
        // A network that is allowed is allowed with all ports: the address of a literal is named before its port.
        if let address = url.address, !AddressPolicy.isPublic(address) {
            return addressPolicy.objection(to: address, port: url.port, ownAddresses: [])
        }
        return addressPolicy.mayAllow(port: url.port) ? nil : addressPolicy.objection(toPort: url.port)
    }

    /// Whether a source may be fetched, as far as its name tells, and is the same source on every machine: a path of a
    /// folder may not be.
    package func mayShare(_ identity: SourceIdentity) -> Bool {
        guard let name = identity.originName else { return mayFetch(identity.url) }
        switch origins[name]?.place {
        case .web, .memory: return true
        case .folder, nil: return false
        }
    }

    /// Whether a source may be fetched, as far as its name tells.
    package func mayFetch(_ identity: SourceIdentity) -> Bool { objection(toFetching: identity) == nil }

    /// The setting that forbids a source, as far as its name tells; nil if there is none.
    package func objection(toFetching identity: SourceIdentity) -> String? {
        identity.originName == nil ? objection(toFetching: identity.url) : nil
    }

    /// Whether nothing in `url` itself forbids a fetch; the addresses of its host's name are judged when it is fetched.
    func mayFetch(_ url: SourceURL) -> Bool { objection(toFetching: url) == nil }

    /// The setting that forbids a call to `url`, as far as the URL tells; nil if there is none.
    package func objection(toCalling url: SourceURL) -> String? { objection(toFetching: url, isCall: true) }

    private func objection(toFetching url: SourceURL, isCall: Bool = false) -> String? {
        if let objection = objection(to: url, isCall: isCall) { return objection }
        return url.address.flatMap { addressPolicy.objection(to: $0, port: url.port, ownAddresses: []) }
    }
}

extension DownloadConfiguration {
    /// These settings with the limits of an origin.
    func adapted(to origin: Origin) -> DownloadConfiguration {
        var copy = self
        copy.connectTimeout = origin.limits.connectTimeout ?? connectTimeout
        copy.firstByteTimeout = origin.limits.firstByteTimeout ?? firstByteTimeout
        copy.downloadTimeout = origin.limits.downloadTimeout ?? downloadTimeout
        copy.maximumBytes = origin.limits.maximumBytes ?? maximumBytes
        copy.maximumRedirects = origin.limits.maximumRedirects ?? maximumRedirects
        copy.certificateAuthorities = origin.certificateAuthorities ?? certificateAuthorities
        return copy
    }
}
