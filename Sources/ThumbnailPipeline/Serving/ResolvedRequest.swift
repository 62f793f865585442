import Coordination
package import Downloading
package import HTTPTypes
package import ThumbnailTypes

/// A request with resolved sources and the key of its last result, because requests recur.
///
/// A request whose URLs are parsed, and whose geometry is planned again only if a source changes. Used on all event
/// threads.
package final class ResolvedRequest: Sendable {
    package let request: Request
    /// A ``ServiceError`` if one of them has no identity.
    package let sources: Result<PerSource<SourceIdentity>, any Error>
    package let opened: OpenedSource?
    /// The fields of clients that the origins of its sources receive.
    package let forwardedNames: [HTTPField.Name]
    /// Nil for a request that is not logged.
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

    /// The request of a client with these fields.
    package func forwarding(_ fields: HTTPFields) throws -> ResolvedRequest {
        guard !forwardedNames.isEmpty else { return self }
        let forwarding = try sources.get().mapValues { source throws(ClientFields.TooLong) in
            try source.forwarding(fields)
        }
        return ResolvedRequest(request, sources: .success(forwarding), of: opened, label: label)
    }

    /// The fields by which responses to the target vary.
    package var vary: String? {
        guard !forwardedNames.isEmpty else { return request.vary }
        return ((request.vary.map { [$0] } ?? []) + forwardedNames.map(\.rawName)).joined(separator: ", ")
    }

    package func labeled(_ label: RequestLabel) -> ResolvedRequest {
        ResolvedRequest(request, sources: sources, of: opened, label: label)
    }

    var last: LastResult? { lastResult.withLock { $0 } }

    /// `make` creates the key if a record has changed.
    func key(
        of records: PerSource<SourceRecord>, make: (Request) throws -> ResultKey
    ) rethrows -> ResultKey {
        if let last, records.areSame(as: last.serials) { return last.key }
        let new = LastResult(serials: records.mapValues(\.serial), key: try make(request))
        let replaced = lastResult.withLock { lastResult in
            defer { lastResult = new }
            return lastResult
        }
        // Released here, outside the lock.
        _ = replaced
        return new.key
    }
}

/// An object, because copying the key's parts for each response would cost more than looking it up.
final class LastResult: Sendable {
    /// The serials of the records: the records themselves would stay in memory beside the cache that counts them.
    let serials: PerSource<UInt64>
    let key: ResultKey

    init(serials: PerSource<UInt64>, key: ResultKey) { (self.serials, self.key) = (serials, key) }
}

extension PerSource where Value == SourceIdentity {
    fileprivate var forwardedNames: [HTTPField.Name] {
        guard contains(where: \.isPrivate) else { return [] }
        return reduce(into: []) { names, source in
            for name in source.forwardedNames where !names.contains(name) { names.append(name) }
        }
    }
}
