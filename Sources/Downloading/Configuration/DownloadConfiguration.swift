package import HTTPTypes
package import Text

package struct DownloadConfiguration: Sendable {
    package enum Order: String, Sendable, CaseIterable {
        /// First in, first out.
        case fifo
        /// Last in, first out; a request that has waited for half of its timeout comes first.
        case lifo
    }

    package var maximumActiveDownloads = 32
    package var maximumActiveDownloadsPerHost = 8
    package var order = Order.fifo
    package var maximumQueuedDownloads = 1024
    package var connectTimeout = Duration.seconds(3)
    /// The timeout from sending the request to the first byte of the response.
    package var firstByteTimeout = Duration.seconds(5)
    package var downloadTimeout = Duration.seconds(10)
    /// The bytes that must arrive in each `lowSpeedInterval` once the response has begun.
    package var lowSpeedBytes = 16 << 10
    package var lowSpeedInterval = Duration.seconds(3)
    package var maximumBytes = 64 << 20
    package var maximumRedirects = 5
    /// Whether to fetch only the bytes that a request needs, if the origin supports ranges.
    package var fetchesRanges = true
    package var allowedNetworks: [AddressNetwork] = []
    /// Networks that may not serve sources, even if public or allowed; named origins are exempt.
    package var deniedNetworks: [AddressNetwork] = []
    /// Endpoints that may serve sources although they are not public.
    package var allowedEndpoints: [AllowedEndpoint] = []
    package var allowedPorts: Set<Int> = [80, 443]
    /// Every URL, including redirect targets, must match one of these patterns; empty allows all.
    package var allowedSources: [SourcePattern] = []
    package var allowsUnnamedSources = true
    /// A URL must also match one of these patterns; empty allows all.
    package var tenantSources: [SourcePattern] = []
    /// Set if the tenant does not share sources with others.
    package var tenant: ExactText?
    package var origins = Origins()
    package var staleAllowances = StaleAllowances()
    /// How long a 404 or 410 is remembered.
    package var notFoundMemory = Duration.seconds(60)
    package var failureMemory = Duration.seconds(5)
    package var userAgent = "Alula/1"
    package var accept = "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8,*/*;q=0.1"
    package var loopName: String?
    /// Name servers as `ADDRESS:PORT`, separated by commas; nil uses the system's.
    package var nameServers: String?
    /// A PEM file of certificate authorities; nil uses the system's.
    package var certificateAuthorities: String?
    /// An HTTP proxy for absolute URLs or a named origin; nil connects directly.
    package var proxy: SourceURL?

    package init(origins: [Origin] = []) { self.origins = Origins(origins) }

    /// The maximum number of active and queued transfers.
    package var maximumTransfers: Int { maximumActiveDownloads + maximumQueuedDownloads }

    package var addressPolicy: AddressPolicy {
        AddressPolicy(
            allowedNetworks: allowedNetworks, deniedNetworks: deniedNetworks, allowedEndpoints: allowedEndpoints,
            allowedPorts: allowedPorts)
    }

    /// The rules as text for cache keys; no value contains a space or a line end.
    package var policyText: String {
        let sources = allowsUnnamedSources ? allowedSources.map(\.keyText) : ["named"]
        let rules =
            [
                ("allowedNetworks", allowedNetworks.map(\.keyText)), ("deniedNetworks", deniedNetworks.map(\.keyText)),
                ("allowedSources", sources), ("allowedPorts", allowedPorts.sorted().map { "\($0)" }),
            ] + (tenant.map { [("tenant", [$0.string] + tenantSources.map(\.keyText))] } ?? [])
        return rules.map { name, values in ([name] + values).joined(separator: " ") }.joined(separator: "\n")
    }

    /// Whether this configuration allows every source that `earlier` allows.
    func allowsAll(thatAllows earlier: DownloadConfiguration) -> Bool {
        // An empty list allows everything.
        func allowsAll(_ patterns: [SourcePattern], thatAllow earlier: [SourcePattern]) -> Bool {
            patterns.isEmpty || !earlier.isEmpty && Set(patterns).isSuperset(of: earlier)
        }
        return allowsAll(allowedSources, thatAllow: earlier.allowedSources)
            && allowsAll(tenantSources, thatAllow: earlier.tenantSources)
            && (allowsUnnamedSources || !earlier.allowsUnnamedSources)
            && Set(allowedNetworks).isSuperset(of: earlier.allowedNetworks)
            && Set(deniedNetworks).isSubset(of: earlier.deniedNetworks)
            && allowedPorts.isSuperset(of: earlier.allowedPorts)
    }

    package func allows(_ url: SourceURL) -> Bool {
        allowsUnnamedSources
            && [allowedSources, tenantSources].allSatisfy { $0.isEmpty || $0.contains { $0.matches(url) } }
    }

    /// Returns the setting that forbids `url`, and the forbidden value.
    ///
    /// - Parameter isCall: True for webhooks and similar calls, to which only the rules for addresses and ports apply.
    func violation(to url: SourceURL, isCall: Bool = false) -> String? {
        guard isCall || allows(url) else {
            return "allowedSources: no pattern matches \(url.origin)\(url.path.prefix(200))"
        }
        // Report the address before the port: an allowed network is allowed on all ports.
        if let address = url.address, !AddressPolicy.isPublic(address) {
            return addressPolicy.violation(to: address, port: url.port, localAddresses: [])
        }
        return addressPolicy.mayAllow(port: url.port) ? nil : addressPolicy.violation(toPort: url.port)
    }

    /// Does not resolve the host; its addresses are checked at connect time.
    func mayFetch(_ url: SourceURL) -> Bool { violation(toFetching: url) == nil }

    package func violation(toCalling url: SourceURL) -> String? { violation(toFetching: url, isCall: true) }

    func violation(toFetching url: SourceURL, isCall: Bool = false) -> String? {
        if let violation = violation(to: url, isCall: isCall) { return violation }
        return url.address.flatMap { addressPolicy.violation(to: $0, port: url.port, localAddresses: []) }
    }
}

extension DownloadConfiguration {
    func adapted(to origin: Origin) -> DownloadConfiguration {
        var copy = self
        copy.connectTimeout = origin.limits.connectTimeout ?? connectTimeout
        copy.firstByteTimeout = origin.limits.firstByteTimeout ?? firstByteTimeout
        copy.downloadTimeout = origin.limits.downloadTimeout ?? downloadTimeout
        copy.maximumBytes = origin.limits.maximumBytes ?? maximumBytes
        copy.maximumRedirects = origin.limits.maximumRedirects ?? maximumRedirects
        copy.proxy = origin.proxy
        copy.certificateAuthorities = origin.certificateAuthorities ?? certificateAuthorities
        return copy
    }
}

/// Seconds past its lifetime for which a source may be used, if the origin does not specify them.
package struct StaleAllowances: Hashable, Sendable {
    package var whileRevalidating = 0
    package var ifError = 86_400

    package init() {}
}
