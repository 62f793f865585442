// Records events as the service does, so that the instructions of one can be counted: `events.py` runs this under
// valgrind with two counts and divides the difference.
//
// Usage: events COUNT
import Telemetry

guard let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }), count > 0 else {
    fatalError("usage: events COUNT")
}
let log = EventLog()
// Longer than what a text holds without an allocation, as URLs are.
let url = String(repeating: "https://example.com/", count: 3)
for number in 0..<count {
    log.record(.render(url: url, duration: .nanoseconds(number), format: "jpeg"))
}
precondition(log.lastID == count, "an event was not recorded")
