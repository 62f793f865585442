import Crypto
import Memory

/// Takes a body as it arrives: bytes go into one block, and through a hash if there is no tag to identify the
/// version.
struct BodySink: ~Copyable {
    /// Room is reserved for an announced length up to this; a larger body must really arrive to occupy memory.
    private static let maximumReservation = 8 << 20

    private var bytes: ByteAccumulator
    private var hash: SHA256?
    private let eTag: String?

    /// A sink for the body of `head`; after a redirect its tag is not used, because another place may give the same.
    init(head: ResponseHead, isRedirected: Bool) {
        bytes = ByteAccumulator(reservingCapacity: min(head.contentLength ?? 0, Self.maximumReservation))
        eTag = isRedirected ? nil : head.strongETag
        hash = eTag == nil ? SHA256() : nil
    }

    /// Bytes so far.
    var count: Int { bytes.count }

    /// Adds bytes.
    @unsafe
    mutating func append(_ buffer: UnsafeRawBufferPointer) {
        unsafe bytes.append(buffer)
        hash?.update(unsafe buffer.bytes)
    }

    /// Ends the body.
    consuming func finish() -> (bytes: SharedBytes, validator: SourceValidator) {
        let block = bytes.finish()
        if let eTag { return (block, .entityTag(eTag)) }
        guard let digest = hash.take()?.finalize() else { preconditionFailure("a body without a tag is hashed") }
        return (block, .digest(digest.hexadecimal))
    }
}
