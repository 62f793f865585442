import Crypto
import Dialects
import HTTPTypes
import Memory
import Program
import Settings
import ThumbnailAPI

/// `alula sign`: prints a signed request target.
enum SignCommand {
    static let help = """
        Usage: alula sign [--key HEX] TARGET
               alula sign [--key HEX] --body FILE [--content-type TYPE] [--accept TYPES] [--fields] TARGET

        Prints TARGET with `&sig=` and its signature appended. TARGET is the path and query of the request exactly as it
        will be sent: percent-encoded, with `expires` if wanted, without `sig`; or the whole URL, of which the signature
        covers these. The key is --key, else the first of
        ALULA_SIGNING_KEYS; hexadecimal, at least 32 bytes.

        With --body, prints the value of the field Alula-Signature for a POST of that file (- is standard input) to TARGET, which
        needs no query. With --content-type or --accept the signature covers these fields too (v2). With --fields, prints
        the whole fields Alula-Signature and Content-Digest, by which a wrong signature is refused before the body is sent.

          key=$(openssl rand -hex 32)
          alula sign --key "$key" '/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=300'
        """

    static func run(_ arguments: [String]) -> Never {
        if arguments.contains("--help") || arguments.contains("-h") { Program.succeed(help) }
        var rest = arguments[...]
        var keyText = Program.environment["ALULA_SIGNING_KEYS"]
        var target: String?
        // Scheme, host and port of an absolute URL.
        var site = ""
        var bodyPath: String?
        var request = HTTPRequest(method: .post, target: "")
        var printsFields = false
        while let argument = rest.popFirst() {
            if argument == "--key" {
                keyText = rest.popFirst()
            } else if argument.hasPrefix("--key=") {
                keyText = String(argument.dropFirst("--key=".count))
            } else if argument == "--body" {
                bodyPath = rest.popFirst() ?? ""
            } else if argument == "--content-type" {
                request.headerFields[.contentType] = rest.popFirst() ?? ""
            } else if argument == "--accept" {
                request.headerFields[.accept] = rest.popFirst() ?? ""
            } else if argument == "--fields" {
                printsFields = true
            } else if target == nil, argument.hasPrefix("/") {
                target = argument
            } else if target == nil, let url = Self.parts(of: argument) {
                (site, target) = url
            } else {
                Program.fail(["alula sign: \(argument) is not expected here", "", help], status: ExitStatus.wrongUse)
            }
        }
        guard let keyText, let key = try? SettingValues.keys(keyText).first else {
            Program.fail(
                ["alula sign: a key is needed: --key with at least 64 hexadecimal digits, or ALULA_SIGNING_KEYS"],
                status: ExitStatus.wrongUse)
        }
        if let bodyPath {
            guard let target else {
                Program.fail(["alula sign: a target is needed", "", help], status: ExitStatus.wrongUse)
            }
            guard let body = Program.input(at: bodyPath) else {
                Program.fail(["alula sign: \(bodyPath) cannot be read"], status: ExitStatus.failed)
            }
            request.target = target
            let digest = SharedBytes(body).withBytes { SHA256.hash($0) }
            let version = request.headerFields.isEmpty ? BodySignature.Version.one : .two
            guard printsFields else {
                Program.succeed(BodySignature.sign(request, digest: digest, key: key, version: version))
            }
            let fields = BodySignature.fields(of: request, digest: digest, key: key, version: version)
            Program.succeed(fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n"))
        }
        guard let target, target.contains("?"), !target.contains("&sig="), !target.contains("?sig=") else {
            Program.fail(
                ["alula sign: a target is needed: path and query, without sig", "", help], status: ExitStatus.wrongUse)
        }
        Program.succeed(site + URLSigner.sign(target: target, key: key))
    }

    private static func parts(of url: String) -> (site: String, target: String)? {
        guard let scheme = ["http://", "https://"].first(where: { url.prefix($0.count).lowercased() == $0 }),
            let slash = url.dropFirst(scheme.count).firstIndex(of: "/"), !url.contains("#")
        else { return nil }
        return (String(url[..<slash]), String(url[slash...]))
    }
}
