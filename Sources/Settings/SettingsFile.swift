import FoundationEssentials
import Glibc
package import JSON
package import Text

package struct SettingsFileError: Error, Equatable {
    package let reason: String
    package var position: Position?

    /// A position in the file; line and column count from 1.
    package struct Position: Equatable, CustomStringConvertible {
        let line: Int
        let column: Int

        init(after offset: Int, in text: String) {
            let before = text.utf8.prefix(offset)
            line = before.count { $0 == 0x0a } + 1
            let start = before.lastIndex(of: 0x0a).map { before.index(after: $0) } ?? before.startIndex
            // Count all bytes except UTF-8 continuation bytes.
            column = before[start...].count { $0 & 0xc0 != 0x80 } + 1
        }

        package var description: String { "\(line):\(column)" }
    }
}

/// The settings file: one JSON5 object whose members are settings.
package enum SettingsFile {
    package static func values(in text: String) throws(SettingsFileError) -> [ExactText: JSONValue] {
        let value: JSONValue
        do {
            value = try JSONReader.value(in: Array(text.utf8), dialect: .json5)
        } catch {
            let position = SettingsFileError.Position(after: error.offset, in: text)
            throw SettingsFileError(
                reason: "it is not JSON5: \(error.reason), in line \(position.line)", position: position)
        }
        guard let members = value.members else {
            let start = (try? JSONReader.start(of: Array(text.utf8), dialect: .json5)) ?? 0
            throw SettingsFileError(
                reason: "it must be one JSON5 object of settings",
                position: SettingsFileError.Position(after: start, in: text))
        }
        return members
    }

    /// Returns the position of a problem's member or the closest object around it; nil for a problem outside the file.
    package static func position(of problem: SettingsProblem, in text: String) -> SettingsFileError.Position? {
        guard let path = problem.path, let positions = try? JSONReader.positions(in: Array(text.utf8), dialect: .json5)
        else { return nil }
        var name = path[...]
        while true {
            if let position = positions[ExactText(String(name))] {
                let isName = problem.isAboutName && name.endIndex == path.endIndex
                return SettingsFileError.Position(after: isName ? position.name : position.value, in: text)
            }
            guard let point = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
            name = name[..<point]
        }
    }

    package static func read(_ path: String) throws(SettingsFileError) -> String {
        do {
            return try String(contentsOf: URL(filePath: path), encoding: .utf8)
        } catch {
            throw SettingsFileError(reason: obstacle(at: path))
        }
    }

    private static func obstacle(at path: String) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: return "there is no such file"
            case EACCES: return "it may not be read by this user"
            case let error: return "it cannot be opened: error \(error)"
            }
        }
        defer { close(descriptor) }
        var status = stat()
        let isFolder = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        return isFolder ? "it is a folder" : "it is not UTF-8 text"
    }
}

extension JSONValue {
    /// The value as text, with lists joined by commas; nil for objects and null.
    var commandLineText: String? {
        switch self {
        case .string(let text): return text
        case .bool(let isOn): return isOn ? "on" : "off"
        case .int(let number): return String(number)
        case .double(let number): return "\(number)"
        case .array(let values):
            let texts = values.compactMap(\.commandLineText)
            return texts.count == values.count ? texts.joined(separator: ",") : nil
        case .object, .null: return nil
        }
    }
}
