import Foundation

extension UploadBody {
    /// Returns the body as a stream, which a session reads once; nil if the platform has none to give.
    func stream() -> InputStream? {
        #if canImport(Darwin)
        // The documented way there: sessions do not read from subclasses of `InputStream`.
        var (input, output): (InputStream?, OutputStream?) = (nil, nil)
        unsafe Stream.getBoundStreams(withBufferSize: 1 << 16, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        let pump = UploadPump(reader: Reader(self), output: output)
        Thread.detachNewThread { pump.run() }
        return input
        #else
        return UploadStream(Reader(self))
        #endif
    }
}

#if canImport(Darwin)
/// Writes a body into the stream that is bound to the session's, on its own thread.
private final class UploadPump: @unchecked Sendable {
    private var reader: UploadBody.Reader
    private let output: OutputStream

    init(reader: UploadBody.Reader, output: OutputStream) {
        self.reader = reader
        self.output = output
    }

    /// Writes until the end of the body, or until the session closes its stream.
    ///
    /// If a file cannot be read, the body is shorter than its `Content-Length`, so the request fails.
    func run() {
        output.open()
        defer { output.close() }
        while var bytes = try? reader.read(upTo: 1 << 16) {
            while !bytes.isEmpty {
                // Waits while the stream is full.
                let count = unsafe bytes.withUnsafeBytes { (buffer: UnsafeRawBufferPointer) -> Int in
                    guard let start = unsafe buffer.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                    return unsafe output.write(start, maxLength: buffer.count)
                }
                guard count > 0 else { return }
                bytes = bytes.dropFirst(count)
            }
        }
    }
}
#else
/// A stream of a body, because Foundation has no bound streams here, and its session reads from any stream.
private final class UploadStream: InputStream {
    private var reader: UploadBody.Reader
    private var status = Stream.Status.notOpen

    init(_ reader: UploadBody.Reader) {
        self.reader = reader
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status }

    override var hasBytesAvailable: Bool { status == .open }

    override func open() { status = .open }

    override func close() { status = .closed }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        do {
            guard let bytes = try reader.read(upTo: maxLength) else {
                status = .atEnd
                return 0
            }
            unsafe bytes.copyBytes(to: buffer, count: bytes.count)
            return bytes.count
        } catch {
            status = .error
            return -1
        }
    }
}
#endif
