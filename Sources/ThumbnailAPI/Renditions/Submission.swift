import Crypto
import Dialects
import HTTPTypes
import Memory
import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct Submission: Sendable {
    enum Work: Sendable {
        case one(Request)
        case several
    }

    let body: SubmittedBody
    let work: Work
    private let seal: Seal

    /// Checks the signature, then the expiry.
    ///
    /// - Parameter now: The time in Unix seconds.
    init(_ request: HTTPRequest, at route: Route, by configuration: APIConfiguration, now: Int) throws {
        if let images = route.images {
            try self.init(ofOne: request, at: images, by: configuration, now: now)
        } else {
            try self.init(ofSeveral: request, by: configuration, now: now)
        }
    }

    private init(ofSeveral request: HTTPRequest, by configuration: APIConfiguration, now: Int) throws {
        guard configuration.isOpen(configuration.nativeDialect) else { throw APIError.badSignature }
        seal = try Seal(request, keys: configuration.keys.keys(for: request.target))
        try Self.checkQuery(configuration.keys.unnamed(request.target), at: now)
        body = try Self.accept(SubmittedBody(ofSeveral: request.headerFields), configuration: configuration)
        work = .several
    }

    private init(ofOne request: HTTPRequest, at route: ImageRoute, by configuration: APIConfiguration, now: Int) throws
    {
        guard route.isOpen else { throw APIError.badSignature }
        var target = RequestedTarget(request)
        target.hints = ClientHints(request.headerFields)
        var field: ExactText?
        let isSigned: Bool
        if case .signedTarget(let name) = route.dialect.uploads {
            guard route.dialect.isAuthentic(target) else { throw APIError.badSignature }
            seal = try Seal(request, keys: [])
            field = name
            isSigned = route.dialect.isSigned(target)
        } else {
            seal = try Seal(request, keys: configuration.keys.keys(for: request.target))
            isSigned = !configuration.keys.isEmpty
        }
        // Report an expired signature before other errors in the part that it covers.
        let uploadRequest = Result { () throws(APIError) in
            try configuration.clientPolicy.allowed(
                try route.dialect.uploadRequest(in: target), isSigned: isSigned, hints: target.hints)
        }
        if case .success(let upload) = uploadRequest, let expires = upload.expires, expires <= now {
            throw APIError.expired
        }
        if field != nil { _ = try uploadRequest.get() }
        body = try Self.accept(SubmittedBody(ofOne: request.headerFields, field: field), configuration: configuration)
        work = .one(try uploadRequest.get())
    }

    func checkBody(of request: HTTPRequest) throws(APIError) { try seal.check(request) }

    private static func accept(
        _ body: SubmittedBody, configuration: APIConfiguration
    ) throws(APIError) -> SubmittedBody {
        guard configuration.takesUploads || !body.bringsImage else { throw .uploadsOff }
        return body
    }

    /// Rejects parameters of a list's target, except its expiry.
    private static func checkQuery(_ target: String, at now: Int) throws(APIError) {
        var expires: Int?
        for (name, value) in try RawQuery(target: target).decoded() {
            guard name == "expires" else { throw .unknown(name, among: ["expires"]) }
            guard expires == nil else { throw .repeatedParameter(name) }
            expires = try ParameterGrammar.expires(value, parameter: name)
        }
        if let expires, expires <= now { throw .expired }
    }
}

/// The signature of the body, or its digest.
private struct Seal: Sendable {
    private let keys: [[UInt8]]
    private let digest: SHA256Digest?

    /// Throws if a key requires a signature and it is missing or malformed, or if the digest is declared but malformed.
    init(_ request: HTTPRequest, keys: [[UInt8]]) throws(APIError) {
        self.keys = keys
        do throws(ContentDigest.Malformed) {
            digest = try ContentDigest.sha256(in: request.headerFields)
        } catch {
            throw keys.isEmpty ? .badBody("", "Content-Digest has no valid sha-256 member.") : .badSignature
        }
        guard !keys.isEmpty else { return }
        guard let signature = BodySignature(request.headerFields) else { throw .badSignature }
        if let digest, !signature.isValid(for: request, digest: digest, keys: keys) { throw .badSignature }
    }

    func check(_ request: HTTPRequest) throws(APIError) {
        guard !keys.isEmpty || digest != nil else { return }
        let body = request.body ?? SharedBytes([UInt8]())
        let actual = body.withBytes { SHA256.hash($0) }
        if let digest {
            guard actual == digest else {
                throw keys.isEmpty ? .badBody("", "The body does not match Content-Digest.") : .badSignature
            }
            return
        }
        guard let signature = BodySignature(request.headerFields),
            signature.isValid(for: request, digest: actual, keys: keys)
        else { throw .badSignature }
    }
}
