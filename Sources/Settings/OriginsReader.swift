import Downloading
import HTTPTypes
import JSON
import Recipes
import Text

enum OriginsReader {
    private static let members = [
        "url", "folder", "headers", "credentials", "tls", "connectTimeout", "firstByteTimeout", "downloadTimeout",
        "maxSourceBytes", "maxRedirects", "maxActiveDownloads", "ignoredParameters", "trace", "write", "cacheControl",
        "forward", "proxy", "expect", "cache", "largestDecodedKept",
    ]
    private static let ownFields: [HTTPField.Name] = [
        .host, .contentLength, .transferEncoding, .connection, .acceptEncoding, .range, .ifRange, .ifNoneMatch,
        .ifModifiedSince, .xAmzContentSHA256, .xAmzDate, .xAmzSecurityToken, .traceparent,
    ]

    static func read(
        _ value: JSONValue, environment: [String: String]
    ) -> (origins: Origins, problems: [SettingsProblem]) {
        guard case .object(let members) = value else {
            return (Origins(), [InvalidMember(path: "origins", allowed: "an object of origins by name").problem])
        }
        var origins: [Origin] = []
        var problems: [SettingsProblem] = []
        for (name, description) in members.sorted(by: { $0.0 < $1.0 }) {
            do throws(InvalidMember) {
                origins.append(try origin(name, from: description, environment: environment))
            } catch {
                problems.append(error.problem)
            }
        }
        return (Origins(origins), problems)
    }

    private static func origin(
        _ name: String, from value: JSONValue, environment: [String: String]
    ) throws(InvalidMember) -> Origin {
        let path = "origins.\(name)"
        guard Origins.isName(name) else {
            throw InvalidMember(
                path: path, allowed: "a name of up to 32 lowercase letters, digits and hyphens, starting with a letter")
        }
        let object = try SettingsObject(value, at: path, names: members, environment: environment)
        switch (object.has("url"), object.has("folder")) {
        case (true, false): return try web(name, object: object)
        case (false, true): return try folder(name, object: object)
        default: throw InvalidMember(path: path, allowed: "either a url or a folder")
        }
    }

    private static func web(_ name: String, object: SettingsObject) throws(InvalidMember) -> Origin {
        var origin = Origin(name: name, location: .web(base: try base(object)))
        origin.fields = try object.fields("headers", notAmong: ownFields).map { ($0.name, $0.value) }
        origin.credentials = try credentials(object)
        if origin.credentials != nil, origin.fields.contains(where: { $0.name == .authorization }) {
            throw object.problem("headers", allowed: "no Authorization with credentials")
        }
        origin.forwarded = try forwarded(object, beside: origin)
        origin.proxy = try object.setting("proxy", as: .proxy)
        try readTrust(object, into: &origin)
        try readUse(object, into: &origin)
        try readLimits(object, into: &origin.limits)
        origin.propagatesTraces = try object.setting("trace", as: .flag) ?? false
        if origin.propagatesTraces, case .signature? = origin.credentials {
            throw object.problem("trace", allowed: "no trace with s3, because its signature covers all fields")
        }
        origin.isWritable = try object.setting("write", as: .flag) ?? false
        if origin.isWritable {
            guard case .signature? = origin.credentials else {
                throw object.problem("write", allowed: "only with a folder or s3 credentials")
            }
        }
        let value = "a value of Cache-Control of at most 256 characters, with write"
        origin.cacheControl = try object.text("cacheControl", allowed: value)
        guard origin.cacheControl.map({ origin.isWritable && CacheControl.isValue($0) }) ?? true else {
            throw object.problem("cacheControl", allowed: value)
        }
        let ignored = try object.texts("ignoredParameters", allowed: "a list of parameters' names") ?? []
        origin.ignoredParameters = Set(ignored.map { ExactText($0) })
        return origin
    }

    private static func folder(_ name: String, object: SettingsObject) throws(InvalidMember) -> Origin {
        let members = ["folder", "maxSourceBytes", "write", "expect", "cache", "largestDecodedKept"]
        if let other = object.names.first(where: { !members.contains($0) }) {
            throw object.problem(other, allowed: "only \(members.dropFirst().joined(separator: ", ")) with a folder")
        }
        let allowed = "an absolute path"
        let path = try object.requiredText("folder", allowed: allowed)
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw object.problem("folder", allowed: allowed) }
        var origin = Origin(name: name, location: .folder(path: path))
        origin.limits.maximumBytes = try object.setting("maxSourceBytes", as: .byteSize)
        origin.isWritable = try object.setting("write", as: .flag) ?? false
        try readUse(object, into: &origin)
        return origin
    }

    private static func base(_ object: SettingsObject) throws(InvalidMember) -> SourceURL {
        let allowed = "an absolute http or https URL without user, query and fragment"
        let text = try object.requiredText("url", allowed: allowed)
        guard !text.contains(where: { $0 == "?" || $0 == "#" }), let url = try? SourceURL(parsing: text) else {
            throw object.problem("url", allowed: allowed)
        }
        return url
    }

    private static func credentials(_ object: SettingsObject) throws(InvalidMember) -> OriginCredentials? {
        guard let credentials = try object.object("credentials", names: ["basic", "bearer", "digest", "s3"]) else {
            return nil
        }
        guard credentials.names.count == 1 else {
            throw object.problem("credentials", allowed: "one of basic, bearer, digest and s3")
        }
        for scheme in ["basic", "digest"] {
            guard let login = try credentials.object(scheme, names: ["user", "password"]) else { continue }
            let user = try login.requiredText("user", allowed: "a user's name without a colon")
            guard !user.contains(":") else { throw login.problem("user", allowed: "a user's name without a colon") }
            let password = Secret(try login.requiredSecret("password"))
            return scheme == "basic"
                ? .basic(user: user, password: password) : .digest(user: user, password: password)
        }
        if let s3 = try credentials.object("s3", names: S3CredentialsReader.members) {
            return try S3CredentialsReader.read(s3)
        }
        return .bearer(Secret(try credentials.requiredSecret("bearer")))
    }

    private static func forwarded(
        _ object: SettingsObject, beside origin: Origin
    ) throws(InvalidMember) -> [ForwardedField] {
        let allowed = "a list of at most \(ForwardedField.maximumCount) fields' names, or Cookie:NAME"
        var fields: [ForwardedField] = []
        for text in try object.texts("forward", allowed: allowed) ?? [] {
            guard let field = ForwardedField(text), fields.count < ForwardedField.maximumCount else {
                throw object.problem("forward", allowed: allowed)
            }
            guard !field.isForbidden else { throw object.problem("forward", allowed: "\(allowed); not \(text)") }
            let isTaken =
                fields.contains { $0.clashes(with: field) } || origin.fields.contains { $0.name == field.name }
                || field.name == .authorization && origin.credentials != nil
            guard !isTaken else {
                throw object.problem(
                    "forward", allowed: "each field once, and none of headers and credentials; not \(text)")
            }
            fields.append(field)
        }
        if !fields.isEmpty, case .signature? = origin.credentials {
            throw object.problem("forward", allowed: "no forward with s3, because its signature covers all fields")
        }
        return fields
    }

    private static func readTrust(_ object: SettingsObject, into origin: inout Origin) throws(InvalidMember) {
        let names = ["authorities", "certificate", "publicKey", "clientCertificate", "clientKey"]
        guard let tls = try object.object("tls", names: names) else { return }
        guard case .web(let base) = origin.location, base.scheme == "https" else {
            throw object.problem("tls", allowed: "only if the url begins with https")
        }
        origin.certificateAuthorities = try tls.text("authorities", allowed: "the path of a PEM file")
        let file = try tls.text("clientCertificate", allowed: "the path of a PEM file")
        let keyFile = try tls.text("clientKey", allowed: "the path of a PEM file")
        if keyFile != nil, file == nil { throw tls.problem("clientKey", allowed: "only with clientCertificate") }
        origin.clientCertificate = file.map { ClientCertificate(file: $0, keyFile: keyFile ?? $0) }
        guard !(tls.has("certificate") && tls.has("publicKey")) else {
            throw object.problem("tls", allowed: "pins on certificates or on public keys, not both")
        }
        if let pins = try pins(tls, name: "certificate") { origin.tlsPolicy = .certificate(pins) }
        if let pins = try pins(tls, name: "publicKey") { origin.tlsPolicy = .publicKey(pins) }
    }

    /// Reads which responses are sources, and what is cached of them.
    private static func readUse(_ object: SettingsObject, into origin: inout Origin) throws(InvalidMember) {
        origin.cachePolicy = try object.setting("cache", as: .choice) ?? .all
        origin.maximumDecodedBytes = try object.setting("largestDecodedKept", as: .byteSize)
        guard let expect = try object.object("expect", names: ["formats", "statuses"]) else { return }
        origin.expectation.formats = try expect.setting("formats", as: .set(.formats(of: ImageFormat.allCases)))
            .map { Set($0.map { ExactText($0.rawValue) }) }
        let statuses = try expect.setting("statuses", as: .set(.integers(in: 200...599)))
        guard origin.expectation.formats?.isEmpty != true else { throw expect.problem("formats", allowed: "a format") }
        guard statuses?.allSatisfy(OriginExpectation.isStatus) != false, statuses == nil || object.has("url") else {
            throw expect.problem(
                "statuses", allowed: "statuses of a url with a body: 200 to 299 and 400 to 599 but 204, 205, 206")
        }
        origin.expectation.statuses = statuses
    }

    private static func pins(_ tls: SettingsObject, name: String) throws(InvalidMember) -> Set<TLSPolicy.Pin>? {
        let allowed = "a list of pins such as sha256/ and the digest in base64"
        guard let texts = try tls.texts(name, allowed: allowed) else { return nil }
        let pins = texts.compactMap { TLSPolicy.Pin($0) }
        guard pins.count == texts.count else { throw tls.problem(name, allowed: allowed) }
        return Set(pins)
    }

    private static func readLimits(_ object: SettingsObject, into limits: inout OriginLimits) throws(InvalidMember) {
        limits.connectTimeout = try object.setting("connectTimeout", as: .duration)
        limits.firstByteTimeout = try object.setting("firstByteTimeout", as: .duration)
        limits.downloadTimeout = try object.setting("downloadTimeout", as: .duration)
        limits.maximumBytes = try object.setting("maxSourceBytes", as: .byteSize)
        limits.maximumRedirects = try object.setting("maxRedirects", as: .integer(in: 0...20))
        limits.maximumActiveDownloads = try object.setting("maxActiveDownloads", as: .integer(in: 1...10_000))
    }
}
