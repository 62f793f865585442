/// Why a text does not name a source.
package enum SourceURLError: Error, Hashable, Sendable {
    /// Not an absolute URL by RFC 3986, or one with a user name, a wrong host, or more than 2048 bytes.
    case malformed
    /// A path with a segment that is `.` or `..`, or would be after one decoding of its escapes.
    case dotSegment
    /// The same below a named origin, whose base such a path could leave.
    case pathNotAllowed
    /// A scheme other than http and https.
    case schemeNotAllowed
    /// An address in one of the spellings that only serve to hide it: `2130706433`, `0x7f.1`, `[::ffff:127.0.0.1]`.
    case literalNotAllowed
}
