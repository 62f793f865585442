import JSON

/// An event that operators see live.
///
/// Sources are named by their canonical URL, which has no user information and no fragment but the whole query, or by
/// `NAME:PATH` of a named origin: operators refresh and remove a source by this text. Events therefore appear on the
/// admin listener only and never in logs.
package enum ServiceEvent: Sendable, Equatable {
    /// `total` is the announced length of the body in bytes.
    case download(url: String, state: DownloadState, bytes: Int, total: Int?, end: DownloadEnd? = nil)
    /// An image that a client sends, by the ID of the request.
    case upload(id: String, state: UploadState, bytes: Int, total: Int?, error: String? = nil)
    case decode(url: String, duration: Duration, format: String)
    case render(url: String, duration: Duration, format: String)
    /// Entries were removed from the caches.
    ///
    /// Without a URL, the entries belong to several sources: to all sources requested with `tag`, if there is one.
    case purge(url: String?, tag: String? = nil, entries: Int, bytes: Int, cause: PurgeCause)
    case origin(String, state: String)
    case prefetch(id: String, state: String, done: Int, failed: Int, total: Int)
    case activity(isActive: Bool)

    package enum DownloadState: String, Sendable {
        case started, progress, finished, failed, canceled = "cancelled"
    }

    package enum UploadState: String, Sendable {
        case started, progress, finished, failed
    }

    /// Raw values are the names on the wire.
    package enum Kind: String, Sendable, CaseIterable {
        case download, upload, decode, render, purge, origin, activity, prefetch
        /// Sent every second, and not recorded in the log.
        case stats
    }

    package var kind: Kind {
        switch self {
        case .download: .download
        case .upload: .upload
        case .decode: .decode
        case .render: .render
        case .purge: .purge
        case .origin: .origin
        case .activity: .activity
        case .prefetch: .prefetch
        }
    }

    /// Nil if the event concerns no source or several.
    package var url: String? {
        switch self {
        case .download(let url, _, _, _, _), .decode(let url, _, _), .render(let url, _, _): url
        case .purge(let url, _, _, _, _): url
        case .upload, .origin, .activity, .prefetch: nil
        }
    }

    var members: [(String, JSONValue)] {
        switch self {
        case .download(let url, let state, let bytes, let total, let end):
            [
                ("url", .string(url)), ("state", .string(state.rawValue)), ("bytes", .int(bytes)),
                ("total", total.map { .int($0) } ?? .null),
            ] + (end?.members ?? [])
        case .upload(let id, let state, let bytes, let total, let error):
            [
                ("id", .string(id)), ("state", .string(state.rawValue)), ("bytes", .int(bytes)),
                ("total", total.map { .int($0) } ?? .null),
            ] + (error.map { [("error", .string($0))] } ?? [])
        case .decode(let url, let duration, let format), .render(let url, let duration, let format):
            [
                ("url", .string(url)), ("milliseconds", .double(Self.milliseconds(duration))),
                ("format", .string(format)),
            ]
        case .purge(let url, let tag, let entries, let bytes, let cause):
            [
                ("url", url.map { .string($0) } ?? .null), ("entries", .int(entries)), ("bytes", .int(bytes)),
                ("cause", .string(cause.rawValue)),
            ] + (tag.map { [("tag", .string($0))] } ?? [])
        case .origin(let origin, let state):
            [("origin", .string(origin)), ("state", .string(state))]
        case .prefetch(let id, let state, let done, let failed, let total):
            [
                ("id", .string(id)), ("state", .string(state)), ("done", .int(done)), ("failed", .int(failed)),
                ("total", .int(total)),
            ]
        case .activity(let isActive): [("active", .bool(isActive))]
        }
    }

    /// Truncated to whole microseconds.
    fileprivate static func milliseconds(_ duration: Duration) -> Double {
        let components = duration.components
        return Double(components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000) / 1_000
    }
}

/// The result of a transfer, with its steps.
package struct DownloadEnd: Sendable, Equatable {
    package let timings: [StepTiming]
    /// An error code.
    package var error: String?
    /// The number of bytes after which it was continued by a second request.
    package var resumedAt: Int?

    package init(timings: [StepTiming], error: String? = nil, resumedAt: Int? = nil) {
        self.timings = timings
        self.error = error
        self.resumedAt = resumedAt
    }

    fileprivate var members: [(String, JSONValue)] {
        let timings = timings.map { ($0.name, JSONValue.double(ServiceEvent.milliseconds($0.duration))) }
        var members: [(String, JSONValue)] = [("timings", .object(timings))]
        if let error { members.append(("error", .string(error))) }
        if let resumedAt { members.append(("resumedAt", .int(resumedAt))) }
        return members
    }
}

/// A step with its duration, as in `Server-Timing`.
package struct StepTiming: Hashable, Sendable {
    package let name: String
    package let duration: Duration

    package init(_ name: String, duration: Duration) {
        self.name = name
        self.duration = duration
    }
}

package enum PurgeCause: String, Sendable, CaseIterable {
    case `operator`
    /// The shared cache relayed the purge of another instance's operator.
    case fleet
    case full
    /// The memory budget was exceeded, or the machine ran short of memory.
    case memory
    case changed
    case gone
    case notStorable = "not_storable"
    case broken
    /// Stored only for a short time, because it is truncated.
    case incomplete
    /// Uploaded by a client, whose requests have finished.
    case uploadServed = "sent"
}
