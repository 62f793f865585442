import JSON

/// Something that has happened in the service, as its operators see it live.
///
/// Sources are named by their canonical URL, which holds no user information and no fragment, but its whole query, or
/// as `NAME:PATH` of a named origin: operators refresh and remove a source by this text. So events go to the operators'
/// listener and never into logs.
package enum ServiceEvent: Sendable, Equatable {
    /// A transfer of a source; `total` is the announced length of the body.
    case download(url: String, state: DownloadState, bytes: Int, total: Int?)
    /// A source was decoded.
    case decode(url: String, duration: Duration, format: String)
    /// A result was rendered and encoded.
    case render(url: String, duration: Duration, format: String)
    /// Entries of the caches were removed; without a URL, those of several sources: of all that were asked for under a
    /// tag, if there is one.
    case purge(url: String?, tag: String? = nil, entries: Int, bytes: Int, cause: PurgeCause)
    /// Something else became known of an origin.
    case origin(String, state: String)
    /// A job that makes thumbnails before they are requested has ended.
    case prefetch(id: String, state: String, done: Int, failed: Int, total: Int)
    /// Work began to show, or does so no longer.
    case activity(isActive: Bool)

    /// How far a transfer has come.
    package enum DownloadState: String, Sendable {
        case started, progress, finished, failed, cancelled
    }

    /// The kinds of events that readers can choose, by their names on the wire.
    package enum Kind: String, Sendable, CaseIterable {
        case download, decode, render, purge, origin, activity, prefetch
        /// The service's figures, sent each second; the log does not keep them.
        case stats
    }

    /// The kind of the event.
    package var kind: Kind {
        switch self {
        case .download: .download
        case .decode: .decode
        case .render: .render
        case .purge: .purge
        case .origin: .origin
        case .activity: .activity
        case .prefetch: .prefetch
        }
    }

    /// The source of the event; nil if the event is about none, or about several.
    package var url: String? {
        switch self {
        case .download(let url, _, _, _), .decode(let url, _, _), .render(let url, _, _): url
        case .purge(let url, _, _, _, _): url
        case .origin, .activity, .prefetch: nil
        }
    }

    /// The members of the event's JSON object.
    var json: JSONValue {
        switch self {
        case .download(let url, let state, let bytes, let total):
            .object([
                ("url", .string(url)), ("state", .string(state.rawValue)), ("bytes", .int(bytes)),
                ("total", total.map { .int($0) } ?? .null),
            ])
        case .decode(let url, let duration, let format), .render(let url, let duration, let format):
            .object([
                ("url", .string(url)), ("milliseconds", .double(Self.milliseconds(duration))),
                ("format", .string(format)),
            ])
        case .purge(let url, let tag, let entries, let bytes, let cause):
            .object(
                [
                    ("url", url.map { .string($0) } ?? .null), ("entries", .int(entries)), ("bytes", .int(bytes)),
                    ("cause", .string(cause.rawValue)),
                ] + (tag.map { [("tag", .string($0))] } ?? []))
        case .origin(let origin, let state):
            .object([("origin", .string(origin)), ("state", .string(state))])
        case .prefetch(let id, let state, let done, let failed, let total):
            .object([
                ("id", .string(id)), ("state", .string(state)), ("done", .int(done)), ("failed", .int(failed)),
                ("total", .int(total)),
            ])
        case .activity(let isActive): .object([("active", .bool(isActive))])
        }
    }

    /// Whole microseconds in milliseconds.
    private static func milliseconds(_ duration: Duration) -> Double {
        let parts = duration.components
        return Double(parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000) / 1_000
    }
}
