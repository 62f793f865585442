/// Protections that the kernel enforces on a worker process.
package struct Protections: Hashable, Sendable {
    /// Programs that the worker starts gain no privileges.
    package var hasNoNewPrivileges: Bool
    /// The kernel refuses all system calls that the worker does not need (seccomp).
    package var hasSystemCallFilter: Bool
    /// The kernel asks the server about refused calls and new threads, so that the server knows their names and can
    /// count them.
    package var isSupervised: Bool
    /// Memory, CPU time and files are limited.
    package var hasLimits: Bool
    /// The version of Landlock that denies the worker all files; 0 if there is none.
    package var landlockVersion: Int

    /// Whether a worker can do no harm if an attacker controls it.
    ///
    /// Landlock is not required: it repeats what the filter denies.
    package var isSandbox: Bool { hasNoNewPrivileges && hasSystemCallFilter && hasLimits }

    /// Whether these protections include all of `other`.
    func isAtLeast(_ other: Protections) -> Bool {
        (hasNoNewPrivileges || !other.hasNoNewPrivileges) && (hasSystemCallFilter || !other.hasSystemCallFilter)
            && (isSupervised || !other.isSupervised) && (hasLimits || !other.hasLimits)
            && landlockVersion >= other.landlockVersion
    }

    /// A process without any protection.
    package static let none = Protections(
        hasNoNewPrivileges: false, hasSystemCallFilter: false, isSupervised: false, hasLimits: false, landlockVersion: 0
    )
}

extension Protections: CustomStringConvertible {
    /// A text for logs and the self-test.
    package var description: String {
        let landlock = landlockVersion > 0 ? "Landlock version \(landlockVersion)" : "no Landlock"
        return [
            hasSystemCallFilter ? "seccomp\(isSupervised ? ", supervised" : "")" : "no seccomp", landlock,
            hasNoNewPrivileges ? "no new privileges" : "new privileges", hasLimits ? "limits" : "no limits",
        ].joined(separator: ", ")
    }
}
