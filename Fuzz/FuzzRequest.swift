import ImageSandbox

/// What the server asks of a worker: whatever is taken is written as something that reads back the same.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let message = Array(UnsafeBufferPointer(start: bytes, count: count))
    guard let request = WorkerRequest(message) else { return 0 }
    precondition(request.message.count == WorkerRequest.byteCount, "\(request) has another size")
    precondition(WorkerRequest(request.message) == request, "\(request) is read in two ways")
    return 0
}
