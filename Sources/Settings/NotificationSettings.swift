import Downloading
import HTTPTypes
import JSON
import ThumbnailAPI
import ThumbnailPipeline
package import Webhooks

package struct NotificationSettings: Sendable {
    package var hooks: [PurgeHook] = [] { didSet { isUsed = isUsed || !hooks.isEmpty } }
    package var callbackHosts = CallbackHosts() { didSet { isUsed = true } }
    package private(set) var isUsed = false
}

extension NotificationSettings {
    static let purgeHooks = "purgeHooks"

    static let table: [Setting] = [
        .inFile(
            purgeHooks, allowed: "a list in the settings file", help: "requests sent after purges (settings file only)",
            secrecy: .hidden, copying: { $0.notifying.hooks = $1.notifying.hooks }
        ) { value, environment, settings in
            let (hooks, problems) = PurgeHooksReader.read(value, environment: environment)
            settings.notifying.hooks = hooks
            return problems
        },
        Setting(
            "cacheTagHeader", \.api.cacheTagField,
            as: .init(allowed: "the name of a field that has no other meaning, such as Cache-Tag") {
                CacheTagField($0)
            },
            help: "field with the tags of responses, such as Cache-Tag, Surrogate-Key or xkey"),
        Setting(
            "tags", \.api.tags, as: .choice, whenUnset: "signed where there are keys, else any",
            help: "any: all requests may name tags; signed: only signed URLs and presets"),
        Setting(
            "callbackHosts", \.notifying.callbackHosts,
            as: SettingParser.members.map(
                allowed: "hosts such as hooks.example.com or *.example.com, separated by commas"
            ) { CallbackHosts($0) }, help: "hosts that callbacks of jobs may name: NAME or *.NAME", reloads: true),
    ]
}

enum PurgeHooksReader {
    private static let members = ["url", "method", "headers", "body", "on"]
    private static let maximumHooks = 32
    /// Fields that the service sets; `Host` is not among them, because it may differ from the URL's host.
    private static let ownFields: [HTTPField.Name] = [.contentLength, .transferEncoding, .connection]

    static func read(
        _ value: JSONValue, environment: [String: String]
    ) -> (hooks: [PurgeHook], problems: [SettingsProblem]) {
        guard case .array(let elements) = value, elements.count <= maximumHooks else {
            let allowed = "a list of up to \(maximumHooks) objects with \(members.joined(separator: ", "))"
            return ([], [SettingsProblem(NotificationSettings.purgeHooks, allowed: allowed)])
        }
        var hooks: [PurgeHook] = []
        var problems: [SettingsProblem] = []
        for (number, element) in elements.enumerated() {
            do throws(InvalidMember) {
                hooks.append(
                    try hook(element, at: "\(NotificationSettings.purgeHooks).\(number)", environment: environment))
            } catch {
                problems.append(error.problem)
            }
        }
        return (hooks, problems)
    }

    private static func hook(
        _ value: JSONValue, at path: String, environment: [String: String]
    ) throws(InvalidMember) -> PurgeHook {
        let object = try SettingsObject(value, at: path, names: members, environment: environment)
        var fields: [(name: HTTPField.Name, value: String)] = []
        var secrets: [(name: HTTPField.Name, value: Secret)] = []
        for field in try object.fields("headers", notAmong: ownFields) {
            guard let value = field.value else { throw object.problem("headers", allowed: "fields with values") }
            if field.isSecret { secrets.append((field.name, value)) } else { fields.append((field.name, value.text)) }
        }
        let url = try object.requiredText("url")
        let method = try object.text("method")
        let body = try object.document("body")
        let event = try object.text("on") ?? "any"
        guard ["any", "everything"].contains(event) else { throw object.problem("on", allowed: "any or everything") }
        do throws(PurgeHook.Fault) {
            return try PurgeHook(
                url: url, method: method, fields: fields, secrets: secrets, body: body,
                isForEverythingOnly: event == "everything")
        } catch {
            throw object.problem(error.member, allowed: error.allowed)
        }
    }
}
