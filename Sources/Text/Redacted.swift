/// A value with secrets, which its description, debuggers and reflection hide, so that they never reach a log.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    package var description: String { "…" }

    package var debugDescription: String { "…" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
