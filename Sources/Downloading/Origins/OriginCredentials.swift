import Text

package struct Secret: Sendable, Hashable, Redacted {
    package let text: String

    package init(_ text: String) { self.text = text }
}

package enum OriginCredentials: Sendable, Hashable {
    case basic(user: String, password: Secret)
    case bearer(Secret)
    /// HTTP Digest (RFC 7616).
    case digest(user: String, password: Secret)
    /// AWS Signature Version 4 for a store in this region.
    case signature(KeySource, region: String)

    package struct AccessKey: Sendable, Hashable {
        package let id: String
        package let secret: Secret
        package let sessionToken: Secret?
        /// Seconds since 1970; nil for a permanent key.
        package let expiresAt: Int?

        package init(id: String, secret: Secret, sessionToken: Secret? = nil, expiresAt: Int? = nil) {
            self.id = id
            self.secret = secret
            self.sessionToken = sessionToken
            self.expiresAt = expiresAt
        }
    }
}

/// The source of signing keys: the settings or a platform service for temporary keys.
package enum KeySource: Sendable, Hashable {
    case fixed(OriginCredentials.AccessKey)
    /// A role's key, in exchange for the token in a file that the platform refreshes (`AssumeRoleWithWebIdentity`).
    case webIdentity(role: String, session: String, tokenFile: String, service: String)
    case container(service: String, ContainerToken?)
    /// The key of the machine's role, from the metadata service (IMDSv2).
    case instance(service: String)

    package enum ContainerToken: Sendable, Hashable {
        case text(Secret)
        case file(String)
    }

    var file: String? {
        switch self {
        case .webIdentity(_, _, let file, _), .container(_, .file(let file)?): file
        case .fixed, .container, .instance: nil
        }
    }
}
