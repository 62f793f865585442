import Dialects

/// Request targets: whatever is taken is written as a target that reads back the same, signatures hold for what was
/// signed.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let target = ThumbnailTarget.path + "?" + parts[0]
    let accept = parts.count == 2 ? parts[1] : nil
    if let query = try? ThumbnailTarget.parse(target, accept: accept) {
        guard let written = ThumbnailTarget.generate(query) else { fatalError("\(target) is not read as our own") }
        guard let again = try? ThumbnailTarget.parse(written, accept: accept), again == query else {
            fatalError("\(target) is written as \(written)")
        }
        precondition(ThumbnailTarget.generate(again) == written, "\(written) is not the only way to write it")
    }
    let key = [UInt8](repeating: 7, count: 32)
    let signed = URLSigner.sign(target: target, key: key)
    precondition(URLSigner.verify(target: signed, keys: [key]), "\(signed) is not valid")
    if URLSigner.verify(target: target, keys: [key]) { fatalError("\(target) is valid by chance") }
    return 0
}
