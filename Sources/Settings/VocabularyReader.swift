import Dialects
import Downloading
import JSON
import Text
import ThumbnailAPI
import ThumbnailTypes

struct VocabularyReader {
    private var vocabulary: Vocabulary
    private var problems: [SettingsProblem] = []
    private let rules: DownloadRules

    private static let allowedName = "a name of up to 64 letters, digits, points, underscores and hyphens"

    /// Reads watermarks or presets; call this after the other settings, because origins may have their sources.
    static func read(into settings: inout Settings, _ body: (inout Self) -> Void) -> [SettingsProblem] {
        var reader = Self(vocabulary: settings.api.vocabulary, rules: DownloadRules(settings.downloads))
        body(&reader)
        settings.api.vocabulary = reader.vocabulary
        return reader.problems
    }

    /// Reads objects by name, whose members are defaults of the parameters that begin with `watermark`.
    mutating func readWatermarks(_ value: JSONValue) {
        for (name, description) in members(of: value, in: "watermarks") {
            vocabulary.watermarks[ExactText(name)] = watermark(description, at: "watermarks.\(name)", named: name)
        }
    }

    /// Reads presets: objects of parameters by name, or texts in imgproxy's grammar; read the watermarks before.
    mutating func readPresets(_ value: JSONValue) {
        for (name, description) in members(of: value, in: "presets") {
            if case .string(let text) = description {
                vocabulary.dialectPresets[ExactText(name)] = text
            } else {
                vocabulary.presets[ExactText(name)] = preset(description, at: "presets.\(name)", named: name)
            }
        }
    }

    private mutating func members(of value: JSONValue, in setting: String) -> [(String, JSONValue)] {
        guard case .object(let members) = value else {
            problems.append(SettingsProblem(setting, allowed: "an object of \(setting) by name"))
            return []
        }
        return members.sorted { $0.0 < $1.0 }
    }

    private mutating func watermark(_ value: JSONValue, at path: String, named name: String) -> Vocabulary.Watermark? {
        let allowed = "an object with url, position, x, y, opacity, scale, tile"
        guard Vocabulary.isName(name) else { return add(SettingsProblem(path, allowed: Self.allowedName)) }
        guard case .object(let members) = value else { return add(SettingsProblem(path, allowed: allowed)) }
        let before = problems.count
        var watermark = Vocabulary.Watermark(source: "")
        switch members.first(where: { $0.0 == "url" })?.1 {
        case .string(let source)?:
            watermark.source = ExactText(source)
            if let problem = problem(ofSource: source, at: "\(path).url") { problems.append(problem) }
        default: problems.append(SettingsProblem("\(path).url", allowed: "a URL, or NAME:PATH of a named origin"))
        }
        for (member, value) in members where member != "url" {
            let memberPath = "\(path).\(member)"
            do throws(APIError) {
                watermark.options = try Vocabulary.options(
                    watermark.options, with: member, value: value.parameterText ?? "")
            } catch {
                problems.append(
                    error.isAboutName
                        ? SettingsProblem(memberPath, allowed: allowed, isAboutName: true)
                        : SettingsProblem(memberPath, fault: error, value: value))
            }
        }
        return problems.count == before ? watermark : nil
    }

    private mutating func preset(_ value: JSONValue, at path: String, named name: String) -> Vocabulary.Preset? {
        guard Vocabulary.isName(name) else { return add(SettingsProblem(path, allowed: Self.allowedName)) }
        guard case .object(let members) = value else {
            return add(SettingsProblem(path, allowed: "an object of parameters, or a string in imgproxy's grammar"))
        }
        let before = problems.count
        var preset: Vocabulary.Preset = []
        for (member, value) in members {
            let memberPath = "\(path).\(member)"
            guard let text = value.parameterText else {
                problems.append(SettingsProblem(memberPath, allowed: "a string, a number, true or false"))
                continue
            }
            // Check the member with the valid ones before it: if a parameter appears under two names, the second one is
            // at fault.
            if let fault = vocabulary.fault(in: preset + [(member, text)]) {
                problems.append(SettingsProblem(memberPath, fault: fault, value: value))
                continue
            }
            preset.append((member, text))
            if member == "watermark", text.utf8.contains(UInt8(ascii: ":")),
                let problem = problem(ofSource: text, at: memberPath)
            {
                problems.append(problem)
            }
        }
        return problems.count == before ? preset : nil
    }

    private mutating func add<Value>(_ problem: SettingsProblem) -> Value? {
        problems.append(problem)
        return nil
    }

    private func problem(ofSource source: String, at path: String) -> SettingsProblem? {
        do {
            _ = try rules.identity(of: ExactText(source))
            return nil
        } catch {
            return SettingsProblem(path, allowed: "an http or https URL, or NAME:PATH of a named origin")
        }
    }
}

extension JSONValue {
    fileprivate var parameterText: String? {
        switch self {
        case .string(let text): text
        case .bool(let isOn): isOn ? "1" : "0"
        case .int(let number): String(number)
        case .double(let number): Int(exactly: number).map { String($0) } ?? "\(number)"
        case .array, .object, .null: nil
        }
    }
}

extension SettingsProblem {
    fileprivate init(_ path: String, fault: APIError, value: JSONValue) {
        let text = fault.isAboutName ? nil : value.commandLineText
        let shown = SettingsProblem.shown(text).map { " \($0)" } ?? ""
        let invalid = fault.isAboutName ? "" : "invalid value\(shown): "
        self.init(
            path: path, line: "\(path) in the settings file: \(invalid)\(fault.publicMessage)",
            isAboutName: fault.isAboutName)
    }
}
