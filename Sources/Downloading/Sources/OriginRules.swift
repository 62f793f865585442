import HTTPTypes

/// The rules for transfers from a named origin, or from absolute URLs.
package final class OriginRules: Sendable {
    package static let unrestricted = DownloadRules(DownloadConfiguration()).unnamed

    /// The named origin; nil for absolute URLs.
    package let origin: Origin?
    /// The configuration with the origin's limits.
    package let configuration: DownloadConfiguration
    /// A part of cache keys: other settings may lead to other bytes or forbid the source.
    package let key: String
    /// Changes when the rules for absolute URLs forbid more than before, or the origin's key changes.
    ///
    /// Sources in memory are valid for one generation; generations are never reused.
    private let generation: Int
    /// Whether client fields are forwarded to the origin.
    let forwardsFields: Bool
    let selectingFields: HTTPFields
    let addressPolicy: AddressPolicy
    private let absolute: OriginRules?

    /// The rules for redirects to absolute URLs.
    var unnamed: OriginRules { absolute ?? self }

    init(
        _ origin: Origin?, configuration: DownloadConfiguration, unnamed: OriginRules? = nil,
        after earlier: OriginRules?, version: Int
    ) {
        self.origin = origin
        self.configuration = origin.map { configuration.adapted(to: $0) } ?? configuration
        let key = origin?.digest ?? configuration.policyText
        self.key = key
        forwardsFields = origin.map { !$0.forwarded.isEmpty } ?? false
        selectingFields = RequestFields.selectingFields(for: origin, configuration: configuration)
        addressPolicy = configuration.addressPolicy
        absolute = unnamed
        let isValid = earlier.map { earlier in
            origin == nil ? configuration.allowsAll(thatAllows: earlier.configuration) : key == earlier.key
        }
        generation = isValid == true ? earlier?.generation ?? version : version
    }

    func reusing(_ earlier: OriginRules?) -> OriginRules {
        guard let earlier, key == earlier.key, unnamed.key == earlier.unnamed.key,
            configuration.proxy == earlier.configuration.proxy,
            unnamed.configuration.proxy == earlier.unnamed.configuration.proxy,
            origin?.limits == earlier.origin?.limits, origin?.isWritable == earlier.origin?.isWritable,
            origin?.cacheControl == earlier.origin?.cacheControl,
            configuration.fetchesRanges == earlier.configuration.fetchesRanges,
            origin?.propagatesTraces == earlier.origin?.propagatesTraces
        else { return self }
        return earlier
    }

    func isSame(as other: OriginRules) -> Bool {
        if self === other { return true }
        guard generation == other.generation, configuration.tenant == other.configuration.tenant else { return false }
        return origin.map { $0.name == other.origin?.name && key == other.key } ?? (other.origin == nil)
    }

    /// Whether the source is the same on every machine; false for files in local folders.
    package func mayShare(_ url: SourceURL) -> Bool {
        switch origin?.location {
        case .web, .memory: true
        case .folder: false
        case nil: configuration.mayFetch(url)
        }
    }

    /// Returns the violated rule without resolving the host; nil if the source is allowed.
    package func violation(toFetching url: SourceURL) -> String? {
        origin == nil ? configuration.violation(toFetching: url) : nil
    }
}
