package import HTTPTypes

/// One request that the service sends of its own accord, to tell somebody what has happened.
package struct OutgoingCall: Sendable, Equatable {
    /// Where it goes: an absolute http or https URL.
    package var url: String
    package var method = HTTPRequest.Method.post
    /// The fields besides those that all calls have; they may hold secrets.
    package var fields: HTTPFields = [:]
    /// Empty for a call without a body.
    package var body: [UInt8] = []

    /// A call of this URL.
    package init(
        url: String, method: HTTPRequest.Method = .post, fields: HTTPFields = [:], body: [UInt8] = []
    ) {
        (self.url, self.method, self.fields, self.body) = (url, method, fields, body)
    }

    /// Bytes of memory that it takes while it waits, roughly.
    var byteCount: Int {
        256 + url.utf8.count + body.count
            + fields.reduce(0) { $0 + 64 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

/// The answer to a call.
package enum CallReply: Sendable, Equatable {
    /// An answer with this status.
    case status(Int)
    /// No answer, and why.
    case none(String)
    /// The call may not be sent, whenever that is tried, and why.
    case refused(String)
}

/// The end of a call.
package enum CallOutcome: String, Sendable, CaseIterable {
    /// It was answered with a status of 2xx.
    case sent
    /// No try was answered so.
    case failed
    /// It was given up, because too many calls waited or the service ended.
    case dropped
}
