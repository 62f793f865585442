package struct Protections: Hashable, Sendable {
    package var hasNoNewPrivileges: Bool
    /// Whether seccomp rejects all system calls that the worker does not need.
    package var hasSystemCallFilter: Bool
    /// Whether the kernel reports rejected calls and new threads to the server, which can name and count them.
    package var isSupervised: Bool
    package var hasLimits: Bool
    /// The version of landlock, which denies access to all files; 0 if it is missing.
    package var landlockVersion: Int

    /// Whether a worker is harmless even if an attacker controls it.
    ///
    /// Landlock is not required, because it only duplicates the filter.
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
