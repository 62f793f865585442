import Glibc
import HTTPTypes
import Memory
import Text

/// Queries services for temporary keys; the caller's `send` limits the time and size of each response.
enum KeyServices {
    /// Sends a request to a URL configured by the operator, and waits for the response.
    typealias BlockingCall = (HTTPRequest, _ url: String) throws(KeyFailure) -> (status: Int, body: [UInt8])

    private static let maximumTokenSize = 64 << 10

    static func blockingKey(
        from source: KeySource, at now: Int, send: BlockingCall
    ) throws(KeyFailure) -> OriginCredentials.AccessKey {
        let key =
            switch source {
            case .fixed(let key): key
            case .webIdentity(let role, let session, let file, let service):
                try TemporaryKey.inXML(
                    blockingBody(
                        exchange(blockingToken(in: file), role: role, session: session), from: service, service: "STS",
                        send: send))
            case .container(let service, let token):
                try TemporaryKey.inJSON(
                    blockingBody(
                        HTTPRequest(target: "", headerFields: authorization(token)), from: service,
                        service: "container", send: send))
            case .instance(let service): try blockingInstanceKey(from: service, send: send)
            }
        if let end = key.expiresAt, end <= now { throw KeyFailure(detail: "the key has expired", isPermanent: false) }
        return key
    }

    private static func exchange(_ token: String, role: String, session: String) -> HTTPRequest {
        let parameters = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", session), ("WebIdentityToken", token),
        ]
        let form = parameters.map { "\($0)=\(URLEscape.encode($1.utf8))" }.joined(separator: "&")
        return HTTPRequest(
            method: .post, target: "",
            headerFields: [.contentType: "application/x-www-form-urlencoded", .accept: "text/xml, application/xml"],
            body: SharedBytes(form.utf8))
    }

    private static func authorization(_ token: KeySource.ContainerToken?) throws(KeyFailure) -> HTTPFields {
        switch token {
        case nil: [:]
        case .text(let secret): [.authorization: secret.text]
        case .file(let path): [.authorization: try blockingToken(in: path, TemporaryKey.fieldValue)]
        }
    }

    /// Returns the key of the machine's role; requests a session token, then the role's name, then its key.
    private static func blockingInstanceKey(
        from service: String, send: BlockingCall
    ) throws(KeyFailure) -> OriginCredentials.AccessKey {
        let tokenRequest = HTTPRequest(
            method: HTTPRequest.Method(rawValue: "PUT"), target: "",
            headerFields: [.metadataTokenLifetime: "60", .contentLength: "0"])
        let token = try text(
            in: blockingBody(tokenRequest, from: service + "/latest/api/token", service: "metadata", send: send),
            named: "token")
        let keyRequest = HTTPRequest(target: "", headerFields: [.metadataToken: token])
        let folder = service + "/latest/meta-data/iam/security-credentials/"
        let role = try text(in: blockingBody(keyRequest, from: folder, service: "metadata", send: send), named: "role")
        return try TemporaryKey.inJSON(
            blockingBody(keyRequest, from: folder + URLEscape.encode(role.utf8), service: "metadata", send: send))
    }

    private static func blockingBody(
        _ request: HTTPRequest, from url: String, service name: String, send: BlockingCall
    ) throws(KeyFailure) -> [UInt8] {
        let (status, body) = try send(request, url)
        guard status == 200 else {
            let code = TemporaryKey.errorCode(in: body).map { ", \($0)" } ?? ""
            throw KeyFailure(
                detail: "the \(name) service responded with status \(status)\(code)",
                isPermanent: status < 500 && status != 429)
        }
        return body
    }

    private static func text(in body: [UInt8], named name: String) throws(KeyFailure) -> String {
        guard let text = TemporaryKey.word(String(decoding: body, as: UTF8.self)) else {
            throw KeyFailure(detail: "the response of the metadata service contains no \(name)", isPermanent: false)
        }
        return text
    }

    private static func blockingToken(
        in path: String, _ parse: (String) -> String? = TemporaryKey.word
    ) throws(KeyFailure) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw KeyFailure(detail: "the token file cannot be read: error \(errno)", isPermanent: false)
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: maximumTokenSize + 1)
        var length = 0
        while length < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe read(descriptor, bytes.baseAddress.map { unsafe $0 + length }, bytes.count - length)
            }
            if count == 0 { break }
            guard count > 0 || errno == EINTR else {
                throw KeyFailure(detail: "the token file cannot be read: error \(errno)", isPermanent: false)
            }
            length += max(0, count)
        }
        guard length <= maximumTokenSize, let token = parse(String(decoding: bytes[..<length], as: UTF8.self)) else {
            throw KeyFailure(detail: "the token file contains no valid token", isPermanent: false)
        }
        return token
    }
}
