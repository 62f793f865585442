/// Why a store cannot be opened.
package enum DiskStoreError: Error, Equatable, CustomStringConvertible {
    /// The folder cannot be made or written; the number is the system's error.
    case folder(systemError: Int32)
    /// Another process has the store open.
    case inUse
    /// The file cannot be opened or written; the reason is for the log.
    case unusable(reason: String)

    /// One sentence for the operator.
    package var description: String {
        switch self {
        case .folder(let number): "the folder cannot be made or written (system error \(number))"
        case .inUse: "another process uses it"
        case .unusable(let reason): reason
        }
    }
}
