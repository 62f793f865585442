import Crypto
import Dialects
import HTTPTypes
import Memory
import Program
import Settings
import ThumbnailAPI

enum SignCommand {
    private static let key = CommandOption(
        name: "key", form: "HEX", help: "the key, at least 32 bytes; default: the first of ALULA_SIGNING_KEYS")
    private static let keyID = CommandOption(
        name: "key-id", form: "ID", help: "the ID of a tenant's key: appends key=ID, which the signature covers")
    private static let body = CommandOption(
        name: "body", form: "FILE",
        help: "print the value of the field Alula-Signature for a POST of this file; - is standard input",
        completion: .files)
    private static let contentType = CommandOption(
        name: "content-type", form: "TYPE", help: "with --body: the signature covers this field (v2)")
    private static let accept = CommandOption(
        name: "accept", form: "TYPES", help: "with --body: the signature covers this field (v2)")
    private static let fields = CommandOption(
        name: "fields",
        help: "with --body: print the whole fields Alula-Signature and Content-Digest, so that a wrong signature is "
            + "rejected before the body is sent")

    static let description = CommandDescription(
        name: "sign", summary: "add a signature to a request target", operands: "[OPTIONS] TARGET",
        text: """
            Prints TARGET with `&sig=` and its signature appended. TARGET is the path and query exactly as it will be sent:
            percent-encoded, with `expires` if wanted, without `sig`; or the whole URL, whose path and query are signed.
            With --body, TARGET needs no query; it must then be sent with key=ID, if there is one.
            """, options: [key, keyID, body, contentType, accept, fields], takesSettings: false,
        examples: [
            "key=$(openssl rand -hex 32)",
            "alula sign --key \"$key\" '/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=300'",
        ])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            guard let keyText = arguments.value(of: key) ?? Program.environment["ALULA_SIGNING_KEYS"],
                let key = try? SettingParser.keys.parse(keyText).first
            else {
                throw UsageError("missing key: use --key with at least 64 hexadecimal digits, or ALULA_SIGNING_KEYS")
            }
            guard arguments.operands.count == 1, let (site, operand) = split(url: arguments.operands[0]) else {
                throw UsageError("expected one target")
            }
            let target = try named(operand, by: arguments.value(of: keyID))
            if let path = arguments.value(of: body) {
                return Program.print(try signature(ofFile: path, for: target, key: key, arguments: arguments)) ? 0 : 1
            }
            guard target.contains("?"), !target.contains("&sig="), !target.contains("?sig=") else {
                throw UsageError("expected a target: path and query, without sig")
            }
            return Program.print(site + URLSigner.sign(target: target, key: key)) ? 0 : 1
        }
    }

    private static func named(_ target: String, by id: String?) throws(UsageError) -> String {
        guard let id else { return target }
        guard Vocabulary.isName(id) else { throw UsageError("--key-id needs an ID as in the settings file") }
        return "\(target)\(target.contains("?") ? "&" : "?")key=\(id)"
    }

    private static func signature(
        ofFile path: String, for target: String, key: [UInt8], arguments: CommandArguments
    ) throws(CommandFailure) -> String {
        guard let body = Program.input(at: path) else {
            throw CommandFailure(code: "file_error", reason: "\(path) cannot be read")
        }
        var request = HTTPRequest(method: .post, target: target)
        request.headerFields[.contentType] = arguments.value(of: contentType)
        request.headerFields[.accept] = arguments.value(of: accept)
        let digest = SharedBytes(body).withBytes { SHA256.hash($0) }
        let version = request.headerFields.isEmpty ? BodySignature.Version.one : .two
        guard arguments.has(fields) else {
            return BodySignature.sign(request, digest: digest, key: key, version: version)
        }
        let fields = BodySignature.fields(of: request, digest: digest, key: key, version: version)
        return fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }

    private static func split(url: String) -> (site: String, target: String)? {
        if url.hasPrefix("/") { return ("", url) }
        guard let scheme = ["http://", "https://"].first(where: { url.prefix($0.count).lowercased() == $0 }),
            let slash = url.dropFirst(scheme.count).firstIndex(of: "/"), !url.contains("#")
        else { return nil }
        return (String(url[..<slash]), String(url[slash...]))
    }
}
