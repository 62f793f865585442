package struct Protections: Hashable, Sendable {
    /// Programs started by the worker gain no privileges.
    package var hasNoNewPrivileges: Bool
    /// The kernel rejects all system calls that the worker does not need (seccomp).
    package var hasSystemCallFilter: Bool
    /// The kernel reports rejected calls and new threads to the server, which can name and count them.
    package var isSupervised: Bool
    package var hasLimits: Bool
    /// The version of Landlock that denies the worker access to all files; 0 if there is none.
    package var landlockVersion: Int

    /// Whether a worker is harmless even if an attacker controls it.
    ///
    /// Landlock is not required: it duplicates the filter's denials.
    package var isSandbox: Bool { hasNoNewPrivileges && hasSystemCallFilter && hasLimits }

    func isAtLeast(_ other: Protections) -> Bool {
        (hasNoNewPrivileges || !other.hasNoNewPrivileges) && (hasSystemCallFilter || !other.hasSystemCallFilter)
            && (isSupervised || !other.isSupervised) && (hasLimits || !other.hasLimits)
            && landlockVersion >= other.landlockVersion
    }

    package static let none = Protections(
        hasNoNewPrivileges: false, hasSystemCallFilter: false, isSupervised: false, hasLimits: false, landlockVersion: 0
    )
}

extension Protections: CustomStringConvertible {
    package var description: String {
        let landlock = landlockVersion > 0 ? "Landlock version \(landlockVersion)" : "no Landlock"
        return [
            hasSystemCallFilter ? "seccomp\(isSupervised ? ", supervised" : "")" : "no seccomp", landlock,
            hasNoNewPrivileges ? "no new privileges" : "new privileges", hasLimits ? "limits" : "no limits",
        ].joined(separator: ", ")
    }
}
