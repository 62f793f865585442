import Glibc

/// Why a store cannot be opened.
package enum DiskStoreError: Error, Equatable, CustomStringConvertible {
    /// The folder cannot be made or written; the number is the system's error.
    case folder(systemError: Int32)
    /// The folder is a link to another.
    case folderIsLink
    /// The folder belongs to another user, who could change its contents.
    case anothersFolder(owner: UInt32, user: UInt32)
    /// All users may write in the folder.
    case openFolder
    /// A file of the store is a link, or not a plain file.
    case notPlainFile(name: String)
    /// Another process has the store open.
    case inUse
    /// The file cannot be opened or written; the reason is for the log.
    case unusable(reason: String)

    /// One sentence for the operator, with advice if the remedy is not obvious.
    package var description: String {
        switch self {
        case .folder(let number):
            "the folder cannot be made or written: \(unsafe String(cString: strerror(number))) (system error \(number))"
        case .folderIsLink: "it is a link; name the folder that it leads to"
        case .anothersFolder(let owner, let user):
            "it belongs to user \(owner), who could change its contents; give it to user \(user), who runs the service, "
                + "or name a folder within it, which is made"
        case .openFolder:
            "all users may write in it; take that right away (chmod o-w), or name a folder within it, which is made"
        case .notPlainFile(let name): "\(name) in it is a link or not a plain file; remove it"
        case .inUse: "another process uses it"
        case .unusable(let reason): reason
        }
    }
}
