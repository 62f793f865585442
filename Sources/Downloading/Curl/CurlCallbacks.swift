import CCurl
import CCurlShim

// Callbacks that libcurl calls on the `transfers` thread inside `curl_multi_perform`. They are created in a file-scope
// function, so that they are not actor-isolated. The context is the transfer; the loop retains it while its handle is
// in the multi handle.

@unsafe
func setTransferCallbacks(of handle: UnsafeMutableRawPointer, for transfer: CurlTransfer) -> CURLcode {
    unsafe CCurlShim_set_callbacks(
        handle,
        { line, size, count, context in
            guard let transfer = unsafe recoverTransfer(context), let line = unsafe line else { return 0 }
            let bytes = unsafe UnsafeRawBufferPointer(start: line, count: size * count)
            return unsafe transfer.readHeaderLine(bytes) ? size * count : 0
        },
        { body, size, count, context in
            guard let transfer = unsafe recoverTransfer(context), let body = unsafe body else { return 0 }
            let bytes = unsafe UnsafeRawBufferPointer(start: body, count: size * count)
            return unsafe transfer.readBody(bytes) ? size * count : 0
        },
        { context, _, address in
            guard let transfer = unsafe recoverTransfer(context), let address = unsafe address else { return -1 }
            return unsafe transfer.openSocket(address)
        },
        { context, remote, _, port, localPort in
            guard let transfer = unsafe recoverTransfer(context), let remote = unsafe remote else {
                return CURL_PREREQFUNC_ABORT
            }
            let maySend = transfer.willSendRequest(
                to: unsafe String(cString: remote), port: Int(port), from: Int(localPort))
            return maySend ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        },
        Unmanaged.passUnretained(transfer).toOpaque())
}

@unsafe
private func recoverTransfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
}
