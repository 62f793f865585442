import Crypto
import HTTPTypes
import Text

enum RequestFields {
    /// The request fields: our defaults, changed by the origin's settings, and its credentials.
    static func lines(for origin: Origin?, configuration: DownloadConfiguration) -> [String] {
        var fields: [(name: HTTPField.Name, value: String?)] = [
            (.userAgent, configuration.userAgent), (.accept, configuration.accept), (.acceptEncoding, "identity"),
        ]
        if let loopName = configuration.loopName { fields.append((.cdnLoop, loopName)) }
        if case .signature? = origin?.credentials {
            // Object stores ignore `Accept`, and cannot cause loops.
            fields.removeAll { $0.name == .accept || $0.name == .cdnLoop }
            fields.append((.xAmzContentSHA256, "UNSIGNED-PAYLOAD"))
        }
        for (name, value) in origin?.fields ?? [] {
            fields.removeAll { $0.name == name }
            fields.append((name, value?.text))
        }
        switch origin?.credentials {
        case .basic(let user, let password):
            fields.append((.authorization, "Basic " + Base64.encode(Array("\(user):\(password.text)".utf8))))
        case .bearer(let token): fields.append((.authorization, "Bearer " + token.text))
        case .digest, .signature, nil: break
        }
        return fields.compactMap { name, value in
            switch value {
            case nil: name == .accept ? "\(name.rawName):" : nil
            case "": "\(name.rawName);"
            case let value?: "\(name.rawName): \(value)"
            }
        }
    }

    /// The fields by which an origin's response may vary (RFC 9111 section 4.1).
    ///
    /// Fields of a named origin are hashed: they may be secret and are stored with responses.
    static func selectingFields(for origin: Origin?, configuration: DownloadConfiguration) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines(for: origin, configuration: configuration) {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                continue
            }
            let value = HTTPSyntax.trimmed(line[line.index(after: colon)...])
            fields[name] = origin == nil ? value : hidden(value)
        }
        return fields
    }

    private static func hidden(_ value: String) -> String { value.isEmpty ? value : SHA256.hash(value).hexadecimal }
}
