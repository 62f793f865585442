// swift-format-ignore-file
// The names are Apple's.

import Foundation

// Declarations of Apple's Foundation that Linux lacks; part of the module that uses them.

extension Stream {
    class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) {}
}
