package enum HTTPRejection: String, Sendable, CaseIterable {
    case badRequest
    case headerTimeout
    case bodyTimeout
    case targetTooLong
    /// The header fields exceed 16 KiB or 64 lines.
    case fieldsTooLarge
    case bodyTooLarge
    /// A version other than HTTP/1.x.
    case versionNotSupported
}
