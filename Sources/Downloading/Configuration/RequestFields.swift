import Crypto
import HTTPTypes

/// The fields of our requests, in libcurl's spelling of a header line.
enum RequestFields {
    /// Our own fields, changed by those of an origin, and its credentials.
    static func lines(for origin: Origin?, _ configuration: DownloadConfiguration) -> [String] {
        var fields: [(name: HTTPField.Name, value: String?)] = [
            (.userAgent, configuration.userAgent), (.accept, configuration.accept), (.acceptEncoding, "identity"),
        ]
        for (name, value) in origin?.fields ?? [] {
            fields.removeAll { $0.name == name }
            fields.append((name, value?.text))
        }
        switch origin?.credentials {
        case .basic(let user, let password):
            fields.append((.authorization, "Basic " + Base64.encode(Array("\(user):\(password.text)".utf8))))
        case .bearer(let token): fields.append((.authorization, "Bearer " + token.text))
        case .signature(let key):
            // libcurl signs in the order of whole lines, in which Accept would come after Accept-Encoding: it sends
            // its own.
            fields.removeAll { $0.name == .accept }
            fields.append((.xAmzContentSHA256, "UNSIGNED-PAYLOAD"))
            if let token = key.sessionToken { fields.append((.xAmzSecurityToken, token.text)) }
        case nil: break
        }
        return fields.compactMap { name, value in
            switch value {
            case nil: name == .accept ? "\(name.rawName):" : nil
            case "": "\(name.rawName);"
            case let value?: "\(name.rawName): \(value)"
            }
        }
    }
}
