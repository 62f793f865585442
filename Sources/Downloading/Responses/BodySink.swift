import Crypto
import HTTPTypes
import Memory

/// Receives a body into one block, and hashes it if no entity tag identifies the version.
struct BodySink: ~Copyable {
    /// Maximum bytes reserved for an announced length; a larger body takes more memory as it arrives.
    private static let maximumReservation = 8 << 20

    private var bytes: ByteAccumulator
    private var hash: SHA256?
    private let eTag: String?

    /// Ignores the entity tag after a redirect, because different URLs may use equal tags.
    init(head: ResponseHead, isRedirected: Bool) {
        bytes = ByteAccumulator(reservingCapacity: min(head.contentLength ?? 0, Self.maximumReservation))
        eTag = isRedirected ? nil : head.strongETag
        hash = eTag == nil ? SHA256() : nil
    }

    var count: Int { bytes.count }

    @unsafe
    mutating func append(_ buffer: UnsafeRawBufferPointer) {
        unsafe bytes.append(buffer)
        hash?.update(unsafe buffer.bytes)
    }

    consuming func finish() -> (bytes: SharedBytes, validator: SourceValidator) {
        let block = bytes.finish()
        if let eTag { return (block, .entityTag(eTag)) }
        guard let digest = hash.take()?.finalize() else { preconditionFailure("a body without a tag is hashed") }
        return (block, SourceValidator(digest))
    }
}
