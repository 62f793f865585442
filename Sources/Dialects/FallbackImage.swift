package import HTTPTypes
package import ThumbnailTypes

/// An image to serve instead of an error, if the target requests one.
package struct FallbackImage: Sendable {
    package enum Subject: Sendable {
        case color(Placeholder)
        case source(Request)
    }

    package let subject: Subject
    package let status: HTTPResponse.Status?

    package init(_ subject: Subject, status: HTTPResponse.Status? = nil) {
        self.subject = subject
        self.status = status
    }
}
