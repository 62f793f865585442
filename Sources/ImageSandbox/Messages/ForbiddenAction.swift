import CLinux

package enum ForbiddenAction: UInt8, Sendable, CaseIterable {
    case openFile, openSocket, execute, trace, signal, fork, executableMemory, removePages
    case startThreads, sendDescriptor

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

    func attempt() -> CInt {
        let action =
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
        return CLinux_try_forbidden(action)
    }
}
