package import HTTPTypes
package import ThumbnailTypes

/// A fallback image for failures of all kinds, in a dialect whose operators enable it.
package struct FallbackImage: Sendable {
    package enum Subject: Sendable {
        case plain(Placeholder)
        case image(Request)
    }

    /// The fallback image.
    package let subject: Subject
    /// The status of the response; nil for the failure's.
    package let status: HTTPResponse.Status?

    package init(_ subject: Subject, status: HTTPResponse.Status? = nil) {
        (self.subject, self.status) = (subject, status)
    }
}
