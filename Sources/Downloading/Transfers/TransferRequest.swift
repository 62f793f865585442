import Coordination
import Crypto
import HTTPTypes
import Memory
import Synchronization

package struct TransferRequest: Hashable, Sendable {
    package let identity: SourceIdentity
    /// The condition that validates a stored version; nil requests the source without one.
    package private(set) var condition: SourceCondition?
    /// Whether the body is needed; if not, the header of any response suffices, including a redirect.
    package private(set) var needsBody = true
    /// The `traceparent` for named origins that accept one.
    package private(set) var traceparent: String?
    /// The range to request; a server may send the whole source instead.
    private(set) var range: RequestedRange?
    /// The remaining time of a download in several requests; nil uses the full timeout.
    private(set) var timeLimit: Duration?
    /// The body to store; nil for a read.
    private(set) var upload: TransferUpload?
    /// Maximum bytes of the response; nil uses the origin's limit.
    private(set) var maximumBytes: Int?
    /// The statuses accepted from the named origin; nil accepts the usual ones.
    private(set) var successes: Set<Int>?

    package init(
        identity: SourceIdentity, condition: SourceCondition? = nil, needsBody: Bool = true, traceparent: String? = nil
    ) {
        self.identity = identity
        self.condition = condition
        self.needsBody = needsBody
        self.traceparent = traceparent
        successes = identity.rules.origin?.expectation.statuses
    }

    init(
        _ range: RequestedRange, of identity: SourceIdentity, condition: SourceCondition?, traceparent: String?,
        timeLimit: Duration
    ) {
        self.init(identity: identity, condition: condition, traceparent: traceparent)
        self.range = range
        self.timeLimit = timeLimit
    }

    /// A request that reads an object of at most this many bytes, or stores one.
    init(object identity: SourceIdentity, atMost maximumBytes: Int? = nil, upload: TransferUpload? = nil) {
        self.identity = identity
        self.maximumBytes = maximumBytes
        self.upload = upload
        needsBody = upload == nil
    }

    var isCall: Bool { upload?.isCall ?? false }
}

/// A range to request instead of the whole source (RFC 9110 section 14).
struct RequestedRange: Hashable, Sendable {
    let bytes: Range<Int>
    /// The version of earlier ranges; nil for the first one.
    let version: RangeVersion?

    var fields: HTTPFields {
        var fields: HTTPFields = [.range: "bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)"]
        if let version { fields.append(.ifRange, version.validator) }
        return fields
    }
}

struct TransferUpload: Hashable, Sendable {
    let method: HTTPRequest.Method
    let fields: HTTPFields
    let bytes: SharedBytes
    let isCall: Bool
    private let digest: String

    init(_ bytes: SharedBytes, description: ObjectDescription = ObjectDescription()) {
        self.bytes = bytes
        digest = bytes.withBytes { SHA256.hash($0) }.hexadecimal
        method = HTTPRequest.Method(rawValue: "PUT")
        var fields: HTTPFields = [.xAmzContentSHA256: digest, .contentType: description.mediaType]
        if let cacheControl = description.cacheControl { fields.append(.cacheControl, cacheControl) }
        self.fields = fields
        isCall = false
    }

    init(call: HTTPRequest) {
        bytes = call.body ?? SharedBytes([])
        digest = bytes.withBytes { SHA256.hash($0) }.hexadecimal
        method = call.method
        fields = call.headerFields
        isCall = true
    }

    static func == (left: TransferUpload, right: TransferUpload) -> Bool {
        left.digest == right.digest && left.method == right.method && left.fields == right.fields
            && left.isCall == right.isCall
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// The metadata that a store keeps with an object and sends to readers.
package struct ObjectDescription: Sendable {
    let mediaType: String
    let cacheControl: String?

    package init(mediaType: String = "application/octet-stream", cacheControl: String? = nil) {
        self.mediaType = mediaType
        self.cacheControl = cacheControl
    }
}
