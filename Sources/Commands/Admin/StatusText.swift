import JSON
import Program
import Text

enum StatusText {
    static func lines(status: [ExactText: JSONValue], caches: JSONValue?) -> [String] {
        var rows: [(String, String)] = []
        let state =
            status["draining"].flatMap { if case .bool(true) = $0 { "about to stop" } else { nil } } ?? "running"
        rows.append(
            (
                "service",
                "\(status["version"]?.stringValue ?? "?"), \(state), up for \(duration(status["uptimeSeconds"]?.intValue ?? 0))"
            ))
        if let active = status["activeDownloads"]?.intValue {
            rows.append(("downloads", "\(active) running, \(status["queuedDownloads"]?.intValue ?? 0) waiting"))
        }
        if let renders = status["activeRenders"]?.intValue { rows.append(("renders", "\(renders) running")) }
        if case .object(let members)? = caches {
            for (name, usage) in members {
                guard let usage = usage.members, let bytes = usage["bytes"]?.intValue,
                    let maximum = usage["capacity"]?.intValue
                else { continue }
                let entries = usage["entries"]?.intValue ?? 0
                rows.append(
                    (
                        "\(name) cache",
                        "\(size(bytes)) of \(size(maximum)) (\(percentage(bytes, of: maximum)) %), \(entries) entries"
                    ))
            }
        }
        rows += waits(status["waiting"]).map { ("waiting", $0) } + tenants(status["tenants"]).map { ("tenant", $0) }
        rows += origins(status["origins"]).map { ("origin", $0) }
        return CommandDescription.table(rows, width: 200).split(separator: "\n").map {
            Program.line(String($0.dropFirst(2)))
        }
    }

    private static func waits(_ value: JSONValue?) -> [String] {
        rows(value).compactMap { row in
            guard let resource = row["for"]?.stringValue, let count = row["count"]?.intValue else { return nil }
            let host = row["host"]?.stringValue.map { " \($0)" } ?? ""
            return "\(count) for \(resource)\(host), \(tenths(row["seconds"])) s"
        }
    }

    /// Returns a line for each tenant with its use in the last minute.
    private static func tenants(_ value: JSONValue?) -> [String] {
        rows(value).compactMap { row in
            guard let name = row["name"]?.stringValue, let requests = row["requests"]?.intValue else { return nil }
            let failures = (row["refusals"]?.members ?? [:]).sorted { $0.key < $1.key }.map { code, count in
                ", \(count.intValue ?? 0) \(code.string)"
            }
            let waiting = row["waiting"]?.intValue.map { ", \($0) waiting" } ?? ""
            return "\(name): \(tenths(row["processorSeconds"])) s of processor time in the last minute, "
                + "\(requests) request\(requests == 1 ? "" : "s")\(failures.joined())\(waiting)"
        }
    }

    /// Returns a line for each origin in trouble, and one with the number of the other origins.
    private static func origins(_ value: JSONValue?) -> [String] {
        let (usable, others) = rows(value).reduce(into: (0, [String]())) { result, row in
            guard let name = row["origin"]?.stringValue, let state = row["state"]?.stringValue else { return }
            guard state != "reachable" else { return result.0 += 1 }
            let names = (row["names"]?.elements ?? []).compactMap(\.stringValue).joined(separator: ", ")
            let cause = row["cause"]?.stringValue.map { " (\($0.split(separator: "_").joined(separator: " ")))" } ?? ""
            let wait = row["retryAfterSeconds"].flatMap(seconds).map { ", next try in \($0) s" } ?? ""
            let label = name + (names.isEmpty ? "" : " (\(names))")
            result.1.append("\(label): \(state.split(separator: "_").joined(separator: " "))\(cause)\(wait)")
        }
        return others + (usable > 0 ? ["\(usable) \(others.isEmpty ? "" : "others ")reachable"] : [])
    }

    private static func rows(_ value: JSONValue?) -> [[ExactText: JSONValue]] {
        (value?.elements ?? []).compactMap(\.members)
    }

    private static func tenths(_ value: JSONValue?) -> String {
        switch value {
        case .int(let number)?: tenths(Double(number))
        case .double(let number)?: tenths(number)
        default: "?"
        }
    }

    private static func tenths(_ number: Double) -> String {
        guard let tenths = Int(exactly: (max(0, number) * 10).rounded()) else { return "?" }
        return tenths.decimal(places: 1, minimum: 1)
    }

    private static func seconds(_ value: JSONValue) -> Int? {
        switch value {
        case .int(let number): number
        case .double(let number): Int(exactly: number.rounded(.up))
        default: nil
        }
    }

    private static func percentage(_ count: Int, of whole: Int) -> Int {
        whole > 0 ? Int(clamping: Int((Double(count) / Double(whole) * 100).rounded())) : 0
    }

    static func size(_ bytes: Int) -> String {
        for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] where bytes >= 1 << shift {
            return "\(tenths(Double(bytes) / Double(1 << shift))) \(unit)"
        }
        return "\(bytes) bytes"
    }

    static func duration(_ seconds: Int) -> String {
        let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
        var rest = max(0, seconds)
        var components: [String] = []
        for (unit, length) in units {
            let count = rest / length
            rest %= length
            if count > 0 || (unit == "s" && components.isEmpty) { components.append("\(count) \(unit)") }
        }
        return components.prefix(2).joined(separator: " ")
    }
}
