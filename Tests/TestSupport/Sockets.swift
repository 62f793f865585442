import Glibc

/// Serves each connection on a thread and closes it afterward; returns when the listener is shut down.
func acceptEach(on listener: CInt, _ serve: @escaping @Sendable (_ client: CInt) -> Void) {
    startThread {
        while true {
            let client = accept(listener, nil, nil)
            if client < 0 && (errno == EINTR || errno == ECONNABORTED) { continue }
            guard client >= 0 else { break }
            startThread {
                serve(client)
                close(client)
            }
        }
        close(listener)
    }
}

func listenOnLoopback(_ descriptor: CInt) -> Int? {
    var name = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = unsafe withUnsafeMutablePointer(to: &name) { name in
        unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
            unsafe bind(descriptor, name, length) == 0 && listen(descriptor, 128) == 0
                && getsockname(descriptor, name, &length) == 0
        }
    }
    return isListening ? Int(in_port_t(bigEndian: name.sin_port)) : nil
}

func connectToLoopback(_ descriptor: CInt, port: Int) -> Bool {
    var name = loopback(port: port)
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return unsafe withUnsafeMutablePointer(to: &name) { name in
        unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, length) == 0 }
    }
}

private func loopback(port: Int) -> sockaddr_in {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = in_port_t(port).bigEndian
    name.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    return name
}
