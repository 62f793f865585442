import Memory
import ThumbnailAPI

/// A content type in the first line and the body of a form after it: the parts lie in their order within the body, each
/// ends at a delimiter, and none holds one.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let lineEnd = input.firstIndex(of: 0x0a) ?? input.count
    let contentType = String(decoding: input[..<lineEnd], as: UTF8.self)
    guard let boundary = MultipartForm.boundary(in: contentType) else { return 0 }
    precondition((1...70).contains(boundary.utf8.count), "\(boundary) is no boundary")
    let body = Array(input[min(lineEnd + 1, input.count)...])
    guard let form = try? MultipartForm(SharedBytes(body), boundary: boundary) else { return 0 }
    precondition(form.parts.count <= 16, "a form has \(form.parts.count) fields")
    let delimiter = Array("\r\n--\(boundary)".utf8)
    var end = 0
    for part in form.parts {
        precondition(part.content.lowerBound > end && part.content.upperBound <= body.count - delimiter.count)
        end = part.content.upperBound
        precondition(body[end...].starts(with: delimiter), "a content does not end at a delimiter")
        precondition(body[part.content].firstRange(of: delimiter) == nil, "a content holds a delimiter")
    }
    return 0
}
