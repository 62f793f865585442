package enum SourceURLError: Error, Hashable, Sendable {
    /// Not an absolute URL by RFC 3986, or one with a user name, an invalid host, or more than 2048 bytes.
    case malformed
    /// A path with a segment that is `.` or `..`, or would be after decoding its escapes once.
    case dotSegment
    /// Such a path below a named origin, whose base it could leave.
    case pathNotAllowed
    case schemeNotAllowed(String)
    /// An address in a spelling that only serves to hide it: `2130706433`, `0x7f.1`, `[::ffff:127.0.0.1]`.
    case literalNotAllowed(String)
}

extension SourceURLError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed: "URLs: not an absolute URL"
        case .dotSegment: "URLs: a segment . or .. in the path"
        case .pathNotAllowed: "origins: a path below one has no segment . or .."
        case .schemeNotAllowed(let scheme): "schemes: \(scheme.prefix(32)) is not http or https"
        case .literalNotAllowed(let host): "addresses: \(host.prefix(64)) is another spelling of an address"
        }
    }
}
