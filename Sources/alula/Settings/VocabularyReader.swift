import Downloading
import JSON
import Text
import ThumbnailAPI

/// Reads the watermarks and presets of the settings file.
struct VocabularyReader {
    /// What was read so far.
    private(set) var vocabulary = Vocabulary()
    /// What is wrong with the others.
    private(set) var problems: [SettingsProblem] = []
    private let origins: Origins

    private static let allowedName = "a name of up to 64 letters, digits, points, underscores and hyphens"

    /// A reader of watermarks whose sources may lie below named origins.
    init(_ origins: Origins, allowsOnlyPresets: Bool) {
        self.origins = origins
        vocabulary.allowsOnlyPresets = allowsOnlyPresets
    }

    /// Reads `watermarks`: objects by name, whose members are defaults of the parameters that begin with `watermark`.
    mutating func readWatermarks(_ value: JSONValue) {
        guard case .object(let members) = value else {
            problems.append(SettingsProblem("watermarks", allowed: "an object of watermarks by name"))
            return
        }
        for (name, description) in members.sorted(by: { $0.0 < $1.0 }) {
            do throws(SettingsProblem) {
                vocabulary.watermarks[ExactText(name)] = try watermark(description, at: "watermarks.\(name)", name)
            } catch {
                problems.append(error)
            }
        }
    }

    /// Reads `presets`: objects of parameters by name, or texts in imgproxy's grammar.
    ///
    /// The watermarks are read before.
    mutating func readPresets(_ value: JSONValue) {
        guard case .object(let members) = value else {
            problems.append(SettingsProblem("presets", allowed: "an object of presets by name"))
            return
        }
        for (name, description) in members.sorted(by: { $0.0 < $1.0 }) {
            do throws(SettingsProblem) {
                if case .string(let text) = description {
                    vocabulary.imgproxyPresets[ExactText(name)] = text
                } else {
                    vocabulary.presets[ExactText(name)] = try preset(description, at: "presets.\(name)", name)
                }
            } catch {
                problems.append(error)
            }
        }
    }

    private func watermark(
        _ value: JSONValue, at path: String, _ name: String
    ) throws(SettingsProblem) -> Vocabulary.Watermark {
        let allowed = "an object with url, position, x, y, opacity, scale, tile"
        guard Vocabulary.isName(name) else { throw SettingsProblem(path, allowed: Self.allowedName) }
        guard case .object(let members) = value else { throw SettingsProblem(path, allowed: allowed) }
        guard let url = members.first(where: { $0.0 == "url" })?.1 else {
            throw SettingsProblem("\(path).url", allowed: "a URL, or NAME:PATH of a named origin; it is missing")
        }
        guard case .string(let source) = url else {
            throw SettingsProblem("\(path).url", allowed: "a URL, or NAME:PATH of a named origin")
        }
        try check(source: source, at: "\(path).url")
        var watermark = Vocabulary.Watermark(source: ExactText(source))
        for (member, value) in members where member != "url" {
            let place = "\(path).\(member)"
            do throws(APIError) {
                watermark.options = try Vocabulary.options(
                    watermark.options, with: member, value.parameterText ?? "")
            } catch {
                if case .unknownParameter = error {
                    throw SettingsProblem(place, allowed: "no such member, but \(allowed)", isAboutName: true)
                }
                throw SettingsProblem(place, fault: error, value)
            }
        }
        return watermark
    }

    private func preset(
        _ value: JSONValue, at path: String, _ name: String
    ) throws(SettingsProblem) -> Vocabulary.Preset {
        guard Vocabulary.isName(name) else { throw SettingsProblem(path, allowed: Self.allowedName) }
        guard case .object(let members) = value else {
            throw SettingsProblem(path, allowed: "an object of parameters, or a text in imgproxy's grammar")
        }
        var preset: Vocabulary.Preset = []
        for (member, value) in members {
            let place = "\(path).\(member)"
            guard let text = value.parameterText else {
                throw SettingsProblem(place, allowed: "a text, a number, true or false")
            }
            preset.append((member, text))
            // All members so far: a parameter that stands there twice, by two names, is a fault of the second.
            if let fault = vocabulary.fault(in: preset) { throw SettingsProblem(place, fault: fault, value) }
            if member == "watermark", text.utf8.contains(UInt8(ascii: ":")) { try check(source: text, at: place) }
        }
        return preset
    }

    private func check(source: String, at path: String) throws(SettingsProblem) {
        do {
            _ = try origins.identity(of: ExactText(source))
        } catch {
            throw SettingsProblem(path, allowed: "an http or https URL, or NAME:PATH of a named origin")
        }
    }
}

extension JSONValue {
    /// The value as a parameter's text in a query; nil for a value that stands for no parameter.
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
    /// The problem that a parameter of the settings file has the fault that the same parameter of a request would have.
    fileprivate init(_ path: String, fault: APIError, _ value: JSONValue) {
        let isUnknown = if case .unknownParameter = fault { true } else { false }
        let text = value.commandLineText
        // The text before an at sign could be a password.
        let shown = isUnknown || text.utf8.contains(UInt8(ascii: "@")) ? "it" : "\"\(text)\""
        self.init(
            path: path, line: "\(path) in the settings file: \(shown) is not allowed: \(fault.publicMessage)",
            isAboutName: isUnknown)
    }
}
