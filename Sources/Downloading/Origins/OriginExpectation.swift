package import Text

/// The responses of a named origin that are sources.
package struct OriginExpectation: Sendable, Hashable {
    /// The names of accepted formats; nil accepts the same formats as for other sources.
    package var formats: Set<ExactText>?
    /// Nil for the usual successes.
    package var statuses: Set<Int>?

    package init() {}

    /// Statuses of responses that have a body and lead nowhere else.
    package static func isStatus(_ status: Int) -> Bool {
        200...299 ~= status && ![204, 205, 206].contains(status) || 400...599 ~= status
    }

    var parts: [String] {
        let formats = self.formats.map { ["formats"] + $0.sorted().map(\.string) } ?? []
        return formats + (statuses.map { ["statuses"] + $0.sorted().map { "\($0)" } } ?? [])
    }
}

/// Which values of a named origin's sources any cache may keep.
package enum OriginCachePolicy: String, Sendable, CaseIterable {
    case all
    /// Neither sources nor their pixels.
    case results
    case none
}
