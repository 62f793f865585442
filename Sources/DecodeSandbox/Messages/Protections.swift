import CLinux

/// What keeps a worker from doing anything but its work on pictures.
package struct Protections: Hashable, Sendable {
    /// No program that it starts could have more rights than it.
    package var hasNoNewPrivileges: Bool
    /// The kernel does no system call for it that its work does not need (seccomp).
    package var hasSystemCallFilter: Bool
    /// The kernel asks the server about such calls instead, and about each new thread: they are known by name, and counted.
    package var isSupervised: Bool
    /// Memory, CPU time and files are limited.
    package var hasLimits: Bool
    /// The version of Landlock that denies it all files, 0 for none.
    package var landlockVersion: Int

    /// Whether a worker that was taken over can do no harm: Landlock is a second fence around what the filter denies already.
    package var isSandbox: Bool { hasNoNewPrivileges && hasSystemCallFilter && hasLimits }

    /// Whether nothing is missing that `other` has.
    func isAtLeast(_ other: Protections) -> Bool {
        (hasNoNewPrivileges || !other.hasNoNewPrivileges) && (hasSystemCallFilter || !other.hasSystemCallFilter)
            && (isSupervised || !other.isSupervised) && (hasLimits || !other.hasLimits)
            && landlockVersion >= other.landlockVersion
    }

    /// None at all.
    package static let none = Protections(
        hasNoNewPrivileges: false, hasSystemCallFilter: false, isSupervised: false, hasLimits: false, landlockVersion: 0
    )
}

extension Protections: CustomStringConvertible {
    /// For people, and for the log.
    package var description: String {
        let landlock = landlockVersion > 0 ? "Landlock version \(landlockVersion)" : "no Landlock"
        return [
            hasSystemCallFilter ? "seccomp\(isSupervised ? ", supervised" : "")" : "no seccomp", landlock,
            hasNoNewPrivileges ? "no new privileges" : "new privileges", hasLimits ? "limits" : "no limits",
        ].joined(separator: ", ")
    }
}

/// What a worker must not be able to do: tried by the self-test, from inside.
package enum Deed: UInt8, Sendable, CaseIterable {
    case openFile, openSocket, execute, trace, signal, fork, executableMemory, removePages
    case startThreads, sendDescriptor

    /// In words.
    package var title: String {
        switch self {
        case .openFile: "open a file"
        case .openSocket: "open a socket"
        case .execute: "execute a program"
        case .trace: "trace a process"
        case .signal: "send a signal"
        case .fork: "start a process"
        case .executableMemory: "make memory executable"
        case .removePages: "take pages out of shared memory"
        case .startThreads: "start threads without end"
        case .sendDescriptor: "send a descriptor"
        }
    }

    /// Tries it in this process: 0 where it worked, else the number of the error.
    func attempt() -> CInt {
        let deed =
            switch self {
            case .openFile: CLinuxOpenFile
            case .openSocket: CLinuxOpenSocket
            case .execute: CLinuxExecute
            case .trace: CLinuxTrace
            case .signal: CLinuxSignal
            case .fork: CLinuxFork
            case .executableMemory: CLinuxExecutableMemory
            case .removePages: CLinuxRemovePages
            case .startThreads: CLinuxStartThreads
            case .sendDescriptor: CLinuxSendDescriptor
            }
        return CLinux_try(deed)
    }
}
