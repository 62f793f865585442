package import HTTPTypes

package struct OutgoingCall: Sendable, Equatable {
    package var url: String
    package var method = HTTPRequest.Method.post
    package var fields: HTTPFields = [:]
    package var body: [UInt8] = []

    package init(url: String, method: HTTPRequest.Method = .post, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
    }

    var byteCount: Int {
        256 + url.utf8.count + body.count
            + fields.reduce(0) { $0 + 64 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

package enum CallReply: Sendable, Equatable {
    case status(Int)
    case none(String)
    case rejected(String)
}

package enum CallOutcome: String, Sendable, CaseIterable {
    case sent
    case failed
    /// Dropped because too many calls waited, or because the service stopped.
    case dropped
}

package enum CallKind: String, Sendable, CaseIterable {
    case purgeHook = "purge_hook"
    case jobCallback = "job_callback"
}
