import Coordination
package import Downloading
package import HTTPTypes
package import ThumbnailTypes

/// A request with its source identities and the key of its last result.
///
/// Reused for repeated targets, so that URLs are parsed once, and the plan is computed once per version of a source.
/// Used on all event threads.
package final class ResolvedRequest: Sendable {
    package let request: Request
    /// The identities, or a ``ServiceError`` if a source has none.
    package let sources: Result<PerSource<SourceIdentity>, any Error>
    package let opened: OpenedSource?
    /// The client fields that are forwarded to the origins of its sources.
    package let forwardedNames: [HTTPField.Name]
    /// The label for logs; nil if the request is not logged.
    package let label: RequestLabel?
    private let lastResult = Locked<LastResult?>(nil)

    package init(
        _ request: Request, sources: Result<PerSource<SourceIdentity>, any Error>, of opened: OpenedSource? = nil,
        label: RequestLabel? = nil
    ) {
        self.request = request
        self.sources = sources
        self.opened = opened
        self.label = label
        forwardedNames = (try? sources.get())?.forwardedNames ?? []
    }

    /// The request with these client fields, which are part of the sources' identities.
    package func forwarding(_ fields: HTTPFields) throws -> ResolvedRequest {
        guard !forwardedNames.isEmpty else { return self }
        let forwarding = try sources.get().mapValues { source throws(ClientFields.TooLong) in
            try source.forwarding(fields)
        }
        return ResolvedRequest(request, sources: .success(forwarding), of: opened, label: label)
    }

    /// The value of `Vary` for responses to the target.
    package var vary: String? {
        guard !forwardedNames.isEmpty else { return request.vary }
        return ((request.vary.map { [$0] } ?? []) + forwardedNames.map(\.rawName)).joined(separator: ", ")
    }

    package func labeled(_ label: RequestLabel) -> ResolvedRequest {
        ResolvedRequest(request, sources: sources, of: opened, label: label)
    }

    var last: LastResult? { lastResult.withLock { $0 } }

    /// Returns the last key; calls `make` if a record has changed.
    func key(of records: PerSource<SourceRecord>, make: (Request) throws -> ResultKey) rethrows -> ResultKey {
        if let last, records.areSame(as: last.serials) { return last.key }
        let new = LastResult(serials: records.mapValues(\.serial), key: try make(request))
        _ = lastResult.exchange(new)
        return new.key
    }
}

/// The key of the last result; an object, because copying the key for each response would cost more than a lookup.
final class LastResult: Sendable {
    /// Serials instead of the records themselves, which would stay in memory uncounted.
    let serials: PerSource<UInt64>
    let key: ResultKey

    init(serials: PerSource<UInt64>, key: ResultKey) {
        self.serials = serials
        self.key = key
    }
}

extension PerSource where Value == SourceIdentity {
    fileprivate var forwardedNames: [HTTPField.Name] {
        guard contains(where: \.isPrivate) else { return [] }
        return reduce(into: []) { names, source in
            for name in source.forwardedNames where !names.contains(name) { names.append(name) }
        }
    }
}
