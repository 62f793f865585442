import Downloading
import Text

/// Reads an access key, or the service that issues temporary keys.
///
/// Platforms set the variables that begin with `AWS_` for other programs, too.
enum S3CredentialsReader {
    static let members = ["region", "accessKey", "secretKey", "sessionToken", "from"]

    static func read(_ s3: SettingsObject) throws(InvalidMember) -> OriginCredentials {
        let region = try region(s3)
        let allowed = "web-identity or container"
        switch try s3.text("from", allowed: allowed) {
        case nil:
            return .signature(
                .fixed(
                    OriginCredentials.AccessKey(
                        id: try s3.requiredSecret("accessKey"), secret: Secret(try s3.requiredSecret("secretKey")),
                        sessionToken: try s3.secret("sessionToken").map { Secret($0) })), region: region)
        case let from?:
            for name in ["accessKey", "secretKey", "sessionToken"] where s3.has(name) {
                throw s3.problem(name, allowed: "none with from")
            }
            switch from {
            case "web-identity": return .signature(try webIdentity(s3, region: region), region: region)
            case "container": return .signature(try container(s3), region: region)
            default: throw s3.problem("from", allowed: allowed)
            }
        }
    }

    private static func region(_ s3: SettingsObject) throws(InvalidMember) -> String {
        let region = try s3.has("region") ? s3.requiredText("region") : s3.variable("AWS_REGION")
        guard let region else { throw s3.problem("region", allowed: "a region's name, unless AWS_REGION is set") }
        guard region.utf8.allSatisfy({ $0.isVisibleASCII && $0 != UInt8(ascii: ":") }) else {
            throw s3.problem("region", allowed: "a region's name such as eu-central-1")
        }
        return region
    }

    private static func webIdentity(_ s3: SettingsObject, region: String) throws(InvalidMember) -> KeySource {
        func required(_ name: String) throws(InvalidMember) -> String {
            guard let value = s3.variable(name) else {
                throw s3.problem("from", allowed: "web-identity only where \(name) is set")
            }
            return value
        }
        let endpoint = "https://sts.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")/"
        return .webIdentity(
            role: try required("AWS_ROLE_ARN"), session: s3.variable("AWS_ROLE_SESSION_NAME") ?? "alula",
            tokenFile: try required("AWS_WEB_IDENTITY_TOKEN_FILE"),
            service: try service("AWS_ENDPOINT_URL_STS", s3: s3) ?? endpoint)
    }

    private static func container(_ s3: SettingsObject) throws(InvalidMember) -> KeySource {
        var url = try service("AWS_CONTAINER_CREDENTIALS_FULL_URI", s3: s3)
        // If Amazon's container service gives only a path, its host is fixed.
        if url == nil {
            url = s3.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map { "http://169.254.170.2\($0)" }
        }
        if let url {
            let file = s3.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").map { KeySource.ContainerToken.file($0) }
            let text = s3.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").map {
                KeySource.ContainerToken.text(Secret($0))
            }
            return .container(service: url, file ?? text)
        }
        var service = try service("AWS_EC2_METADATA_SERVICE_ENDPOINT", s3: s3) ?? "http://169.254.169.254"
        while service.hasSuffix("/") { service.removeLast() }
        return .instance(service: service)
    }

    private static func service(_ name: String, s3: SettingsObject) throws(InvalidMember) -> String? {
        guard let text = s3.variable(name) else { return nil }
        guard let url = try? SourceURL(parsing: text) else {
            throw s3.problem("from", allowed: "an absolute http or https URL in \(name)")
        }
        return url.canonical
    }
}
