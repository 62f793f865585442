package import HTTPTypes

/// A text that is sent, and never shown.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let text: String

    /// Hides `text` from logs.
    package init(_ text: String) {
        self.text = text
    }

    /// Three dots, so that no log shows the secret.
    package var description: String { "…" }
    /// Three dots, so that no debugger's output shows the secret.
    package var debugDescription: String { "…" }
    /// Empty, so that reflection does not show the secret.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The credentials for an origin; sent to its own host only.
package enum OriginCredentials: Sendable, Hashable {
    /// A user and a password (RFC 7617).
    case basic(user: String, password: Secret)
    /// A bearer token (RFC 6750).
    case bearer(Secret)
    /// A signature of each request (AWS Signature Version 4) for a store in this region.
    case signature(KeySource, region: String)

    /// Further fields that can be signed: libcurl 7.88 also signs fields that are left out, and orders a name after
    /// longer names that begin with it.
    package static func canSign(_ fields: [(name: HTTPField.Name, value: Secret?)]) -> Bool {
        let own: [HTTPField.Name] = [.acceptEncoding, .xAmzContentSHA256, .xAmzSecurityToken]
        let names = fields.map { $0.name.rawName.lowercased() }
        let isOrdered = names.allSatisfy { name in
            !(names + own.map { $0.rawName.lowercased() }).contains { $0 != name && $0.hasPrefix(name + "-") }
        }
        return isOrdered && fields.allSatisfy { $0.value?.text.isEmpty == false }
    }

    /// A key that signs requests to an S3-compatible store.
    package struct AccessKey: Sendable, Hashable {
        /// Names the key.
        package let id: String
        package let secret: Secret
        /// Proves a temporary key.
        package let sessionToken: Secret?
        /// When it ends, in seconds since 1970 by the wall clock; nil for a key that stays.
        package let endsAt: Int?

        /// A key of this name.
        package init(id: String, secret: Secret, sessionToken: Secret? = nil, endsAt: Int? = nil) {
            self.id = id
            self.secret = secret
            self.sessionToken = sessionToken
            self.endsAt = endsAt
        }
    }
}

/// The place of the keys that sign: the settings, or a service of the platform that lends keys for a while.
package enum KeySource: Sendable, Hashable {
    /// This key, for ever.
    case fixed(OriginCredentials.AccessKey)
    /// A key of a role, in exchange for the token in a file that the platform keeps fresh
    /// (`AssumeRoleWithWebIdentity`).
    case webIdentity(role: String, session: String, tokenFile: String, service: String)
    /// A key that a service beside the container lends.
    case container(service: String, ContainerToken?)
    /// A key of the machine's role, from its metadata service (version 2).
    case instance(service: String)

    /// The proof that the service beside a container wants.
    package enum ContainerToken: Sendable, Hashable {
        case text(Secret)
        /// In a file, which is read each time.
        case file(String)
    }

    /// The file that it needs; nil for none.
    var file: String? {
        switch self {
        case .webIdentity(_, _, let file, _), .container(_, .file(let file)?): file
        case .fixed, .container, .instance: nil
        }
    }
}
