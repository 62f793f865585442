package import HTTPTypes
package import ThumbnailTypes

package struct FallbackImage: Sendable {
    package enum Subject: Sendable {
        case plain(Placeholder)
        case image(Request)
    }

    package let subject: Subject
    package let status: HTTPResponse.Status?

    package init(_ subject: Subject, status: HTTPResponse.Status? = nil) {
        (self.subject, self.status) = (subject, status)
    }
}
