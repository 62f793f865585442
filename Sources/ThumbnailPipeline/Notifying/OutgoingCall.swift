package import HTTPTypes

package struct OutgoingCall: Sendable, Equatable {
    package var url: String
    package var method = HTTPRequest.Method.post
    package var fields: HTTPFields = [:]
    package var body: [UInt8] = []

    package init(
        url: String, method: HTTPRequest.Method = .post, fields: HTTPFields = [:], body: [UInt8] = []
    ) {
        (self.url, self.method, self.fields, self.body) = (url, method, fields, body)
    }

    var byteCount: Int {
        256 + url.utf8.count + body.count
            + fields.reduce(0) { $0 + 64 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

package enum CallReply: Sendable, Equatable {
    case status(Int)
    /// No response, for this reason.
    case none(String)
    case refused(String)
}

package enum CallOutcome: String, Sendable, CaseIterable {
    case sent
    case failed
    /// It was dropped, because too many calls waited or the service stopped.
    case dropped
}
