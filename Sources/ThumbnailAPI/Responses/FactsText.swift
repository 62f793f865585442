import Crypto
import HTTPTypes
import JSON
import Memory
import Recipes
import Text
import ThumbnailPipeline
package import ThumbnailTypes

package enum FactsText {
    /// - Parameters:
    ///   - source: The source as named by the client; nil for an uploaded image.
    ///   - requested: The facts to add to those in the header; unknown ones are omitted.
    package static func text(_ facts: SourceFacts, of source: String?, requested: FactsRequest) -> String {
        let header = facts.header
        var members: [(String, JSONValue)] = [
            ("format", .string(header.format.rawValue)),
            ("mediaType", .string(header.format.mediaType)), ("width", .int(header.size.width)),
            ("height", .int(header.size.height)), ("orientation", .int(header.orientation.exif)),
            ("frames", .int(header.frames)), ("hasAlpha", .bool(header.hasAlpha)), ("bitDepth", .int(header.bitDepth)),
            ("progressive", .bool(header.isProgressive)), ("colorSpace", .string(header.colors.space.rawValue)),
            ("hdr", .string(header.colors.hdrFormat.rawValue)), ("bytes", .int(facts.byteCount)),
        ]
        if let sensor = header.preview?.sensor {
            members += [("rawWidth", .int(sensor.width)), ("rawHeight", .int(sensor.height))]
        }
        if let source { members.insert(("url", .string(source)), at: 0) }
        if let tag = facts.eTag { members.append(("etag", .string(tag))) }
        if let date = facts.lastModifiedText { members.append(("lastModified", .string(date))) }
        if requested.texts.contains(.rights) {
            members.append(("rights", .object(object(of: header.rights))))
            if header.rights?.hasManifest == true { members.append(("c2pa", .bool(true))) }
        }
        if requested.texts.contains(.exif) { members.append(("exif", .object(object(of: header.exif)))) }
        if requested.includesFaces { members.append(("faces", .array((facts.faces ?? []).map(object(of:))))) }
        if let preview = facts.preview {
            let uri = "data:\(ImageFormat.webp.mediaType);base64," + Base64.encode(preview.array)
            members.append(("preview", .string(uri)))
        }
        guard let appearance = facts.appearance else { return JSONValue.object(members).text }
        if requested.features.contains(.color), let first = appearance.palette.first {
            members.append(("dominantColor", .string("#" + first.color.hexadecimal)))
        }
        if requested.features.contains(.palette) {
            let entries = appearance.palette.map { entry -> JSONValue in
                .object([
                    ("color", .string("#" + entry.color.hexadecimal)), ("share", .double(Double(entry.share) / 10_000)),
                ])
            }
            members.append(("palette", .array(entries)))
        }
        if let hash = appearance.blurHash { members.append(("blurHash", .string(hash))) }
        if let hash = appearance.thumbHash { members.append(("thumbHash", .string(Base64.encode(hash)))) }
        return JSONValue.object(members).text
    }

    private static func object(of rights: SourceRights?) -> [(String, JSONValue)] {
        let fields: [SourceRights.Field] = [
            .creator, .credit, .copyright, .usageTerms, .webStatement, .licensor, .digitalSourceType,
        ]
        return fields.compactMap { field in rights?[field].map { (field.rawValue, .string($0)) } }
    }

    private static func object(of face: Face) -> JSONValue {
        let parts = [
            ("x", face.x), ("y", face.y), ("w", face.width), ("h", face.height), ("confidence", face.confidence),
        ]
        return .object(parts.map { ($0, .double(Double($1) / Double(Face.whole))) })
    }

    private static func object(of texts: EXIFTexts?) -> [(String, JSONValue)] {
        let all = [
            ("make", texts?.make), ("model", texts?.model), ("dateTime", texts?.dateTime),
            ("copyright", texts?.attribution?.copyright), ("artist", texts?.attribution?.artist),
        ]
        return all.compactMap { name, bytes in
            // Cameras pad texts with spaces, and separate the names of several people by zeros.
            let pieces = bytes?.split(whereSeparator: \.isASCIIControl).map {
                HTTPSyntax.trimmed(String(decoding: $0, as: UTF8.self))
            }
            let text = pieces?.filter { !$0.isEmpty }.joined(separator: ", ") ?? ""
            return text.isEmpty ? nil : (name, .string(text))
        }
    }
}
