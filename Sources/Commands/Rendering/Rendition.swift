import Dialects
import Recipes
import Text
import ThumbnailAPI
import ThumbnailTypes

/// A result that a command renders from each source.
struct Rendition: Sendable {
    static let option = CommandOption(
        name: "rendition", form: "QUERY",
        help: "one result, such as 'w=300&format=webp' or 'name=hero&w=1200'; repeatable; other options apply to "
            + "all results", isRepeatable: true)

    /// The name; by default the number, from 1.
    let name: String
    private(set) var options: [(name: String, value: String)]
    private(set) var request = Request(source: "")

    /// The requested sides, for the names of results.
    var sides: ResultPattern.Values {
        var sides: ResultPattern.Values = [:]
        for (token, name) in [(ResultPattern.Token.w, "w"), (.h, "h")] {
            sides[token] = options.last { Self.name(of: $0.name) == name }?.value
        }
        return sides
    }

    /// The extension of the requested format; empty if the image or the client decides.
    var format: ResultPattern.Values {
        guard let value = options.last(where: { Self.name(of: $0.name) == "format" })?.value,
            let format = ImageFileExtension.writtenFormat(value.asciiLowercased)
        else { return [:] }
        return [.format: format.fileExtension]
    }

    var hasFormat: Bool { options.contains { Self.name(of: $0.name) == "format" } }

    /// Returns a rendition for each query or each width of `--w 300,600`, otherwise a single one.
    ///
    /// - Parameters:
    ///   - options: Options for all renditions; a query's options take precedence.
    ///   - format: The default format; nil lets the service choose.
    static func all(
        of queries: [String], options: [(name: String, value: String)], format: String?, dialect: NativeDialect
    ) throws(UsageError) -> [Rendition] {
        guard let widths = widths(in: options) else {
            guard !queries.isEmpty else {
                return [try Rendition("1", options: options, format: format, dialect: dialect)]
            }
            return try named(queries, options: options, format: format, dialect: dialect)
        }
        guard queries.isEmpty else { throw UsageError("--w takes a single width with --rendition") }
        let others = options.filter { name(of: $0.name) != "w" }
        var renditions: [Rendition] = []
        for width in widths.value.split(separator: ",", omittingEmptySubsequences: false) {
            guard !renditions.contains(where: { $0.sides[.w] == String(width) }) else {
                throw UsageError("--\(widths.name): \(width) is repeated")
            }
            renditions.append(
                try Rendition(
                    "\(renditions.count + 1)", options: others + [(widths.name, String(width))], format: format,
                    dialect: dialect))
        }
        return renditions
    }

    /// Returns the option with a list of widths.
    static func widths(in options: [(name: String, value: String)]) -> (name: String, value: String)? {
        options.last { name(of: $0.name) == "w" && $0.value.utf8.contains(UInt8(ascii: ",")) }
    }

    private static func named(
        _ queries: [String], options common: [(name: String, value: String)], format: String?, dialect: NativeDialect
    ) throws(UsageError) -> [Rendition] {
        var renditions: [Rendition] = []
        for query in queries {
            var options: [(name: String, value: String)]
            do throws(APIError) { options = try RawQuery(target: "?" + query).decoded() } catch {
                throw error.usageError
            }
            var name = "\(renditions.count + 1)"
            if let index = options.firstIndex(where: { $0.name == "name" }) { name = options.remove(at: index).value }
            guard RenditionName.isValid(name) else {
                throw UsageError("--rendition: a name has 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot")
            }
            guard !renditions.contains(where: { ExactText($0.name) == ExactText(name) }) else {
                throw UsageError("--rendition: two are named \(name)")
            }
            let names = Set(options.map { ExactText(Self.name(of: $0.name)) })
            options = common.filter { !names.contains(ExactText(Self.name(of: $0.name))) } + options
            renditions.append(try Rendition(name, options: options, format: format, dialect: dialect))
        }
        return renditions
    }

    private init(
        _ name: String, options: [(name: String, value: String)], format: String?, dialect: NativeDialect
    ) throws(UsageError) {
        self.name = name
        self.options = options
        if !hasFormat, let format { self.options.append(("format", format)) }
        do throws(APIError) { request = try dialect.request(options: self.options) } catch { throw error.usageError }
    }

    /// Returns the parameter's name, also for an alias.
    private static func name(of name: String) -> String { ThumbnailOption.named(name)?.name ?? name }
}
