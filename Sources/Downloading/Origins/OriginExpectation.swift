package import Text

/// Conditions for accepting a response of a named origin as a source.
package struct OriginExpectation: Sendable, Hashable {
    /// Names of accepted formats; nil accepts the same formats as for other sources.
    package var formats: Set<ExactText>?
    /// Accepted statuses; nil accepts the usual ones.
    package var statuses: Set<Int>?

    package init() {}

    /// Whether the status can be accepted: not a redirect, and not a response without a body.
    package static func isStatus(_ status: Int) -> Bool {
        200...299 ~= status && ![204, 205, 206].contains(status) || 400...599 ~= status
    }

    var digestTexts: [String] {
        let formats = self.formats.map { ["formats"] + $0.sorted().map(\.string) } ?? []
        return formats + (statuses.map { ["statuses"] + $0.sorted().map { "\($0)" } } ?? [])
    }
}

/// The kinds of values that caches may keep of a named origin's sources.
package enum OriginCachePolicy: String, Sendable, CaseIterable {
    case all
    /// Only results: neither sources nor their pixels.
    case results
    case none
}
