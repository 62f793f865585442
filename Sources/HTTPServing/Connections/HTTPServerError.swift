import Glibc

package enum HTTPServerError: Error, Hashable, Sendable {
    case invalidAddress(String)
    /// `systemError` is an `errno` value.
    case cannotListen(address: String, port: UInt16, systemError: Int32)
    /// `systemError` is an `errno` value.
    case cannotListenAtPath(String, systemError: Int32)
    /// The system has too few threads or descriptors; `systemError` is an `errno` value.
    case cannotStart(systemError: Int32)
}

extension HTTPServerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidAddress(let text):
            "\"\(text)\" is no address to listen on; allowed are IPv4 and IPv6 addresses in figures, and unix:/path"
        case .cannotListen(let address, let port, EADDRINUSE):
            "port \(port) of \(address) is in use by another program"
        case .cannotListen(let address, _, EADDRNOTAVAIL): "\(address) is no address of this machine"
        case .cannotListen(let address, let port, EACCES):
            "port \(port) of \(address) may not be used without privileges; ports from 1024 may"
        case .cannotListen(let address, let port, let error):
            "cannot listen on port \(port) of \(address): \(Self.text(of: error))"
        case .cannotListenAtPath(let path, EADDRINUSE):
            "\(path) is the socket of a running program, or no socket"
        case .cannotListenAtPath(let path, let error): "cannot listen on \(path): \(Self.text(of: error))"
        case .cannotStart(let error): "no thread or descriptor for a listener: \(Self.text(of: error))"
        }
    }

    private static func text(of error: Int32) -> String {
        unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
    }
}
