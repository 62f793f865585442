/// A value with secrets: text, debuggers and reflection show none of them, so that no log does.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    package var description: String { "…" }

    package var debugDescription: String { "…" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
