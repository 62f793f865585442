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
            "cannot listen on \"\(text)\"; use a numeric IPv4 or IPv6 address, or unix:/path"
        case .cannotListen(let address, let port, EADDRINUSE):
            "port \(port) of \(address) is in use by another program"
        case .cannotListen(let address, _, EADDRNOTAVAIL): "\(address) is not an address of this machine"
        case .cannotListen(let address, let port, EACCES):
            "port \(port) of \(address) requires privileges; use a port from 1024"
        case .cannotListen(let address, let port, let error):
            "cannot listen on port \(port) of \(address): \(Self.text(of: error))"
        case .cannotListenAtPath(let path, EADDRINUSE):
            "\(path) is the socket of a running program, or is not a socket"
        case .cannotListenAtPath(let path, let error): "cannot listen on \(path): \(Self.text(of: error))"
        case .cannotStart(let error): "not enough threads or descriptors for a listener: \(Self.text(of: error))"
        }
    }

    private static func text(of error: Int32) -> String {
        unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
    }
}
