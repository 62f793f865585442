import Glibc

package enum DiskStoreError: Error, Equatable, CustomStringConvertible {
    case folder(systemError: Int32)
    case folderIsLink
    case foreignFolder(owner: UInt32, user: UInt32)
    case worldWritableFolder
    case notPlainFile(name: String)
    case inUse
    case full
    /// The file or folder cannot be used; the reason is for the log.
    case unusable(reason: String)

    /// The error in one sentence, with advice if the remedy is not obvious.
    package var description: String {
        switch self {
        case .folder(let number):
            "the folder cannot be created or written: \(unsafe String(cString: strerror(number))) (system error \(number))"
        case .folderIsLink: "it is a symbolic link; use the path of its target"
        case .foreignFolder(let owner, let user):
            "it belongs to user \(owner), who could change its contents; change its owner to user \(user), who runs the service, "
                + "or use a subfolder, which is created"
        case .worldWritableFolder:
            "all users can write to it; remove this permission (chmod o-w), or use a subfolder, which is created"
        case .notPlainFile(let name): "\(name) in it is a link or not a regular file; remove it"
        case .inUse: "another process uses it"
        case .full: "the disk is full"
        case .unusable(let reason): reason
        }
    }
}
