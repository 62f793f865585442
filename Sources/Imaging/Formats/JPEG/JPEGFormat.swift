import CVipsShim
import Memory
import Recipes

enum JPEGFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .signatures([[0: [0xFF, 0xD8, 0xFF]]]),
            header: { bytes throws(ImagingError) in try JPEGHeader.read(bytes) },
            loader: .vips(unsafe VipsLoader(className: "VipsForeignLoadJpegBuffer", open: CVipsShim_load_jpeg)),
            warmUp: .written(bands: 3),
            trim: { file, header, _ throws(ImagingError) in JPEGTrimmer.trim(file, header: header) },
            damage: .init(lacksPixels: { try JPEGPlanes.lacksPixels($0, header: $1, token: $2) }),
            planes: { try JPEGPlanes.decode($0, header: $1, plan: $2, token: $3, allocate: $4, decoder: $5) },
            metadata: JPEGMetadata.read,
            outline: { bytes throws(ImagingError) in
                (try JPEGHeader.read(bytes, countsScans: false), JPEGMetadata.read(bytes))
            }),
        encoding: .init(
            saver: .jpeg, planes: .jpeg, attribute: withEXIF, addPacket: withPacket,
            joinGainMap: JPEGGainMapWriter.joined, addProfile: withDisplayP3))

    static func withEXIF(_ file: SharedBytes, exif: [UInt8], size: PixelSize) -> SharedBytes {
        JPEGSegments.inserting(JPEGSegments.exif(exif), into: file)
    }

    static func withPacket(_ file: SharedBytes, packet: [UInt8], size: PixelSize) -> SharedBytes {
        JPEGSegments.inserting(JPEGSegments.packet(packet), into: file)
    }

    static func withDisplayP3(_ file: SharedBytes, size: PixelSize) -> SharedBytes {
        guard file.withBytes({ try? JPEGHeader($0).header.bands }) == 3 else { return file }
        let content = Array("ICC_PROFILE\0".utf8) + [1, 1] + ColorProfile.displayP3File
        return JPEGSegments.inserting(JPEGSegments.segment(0xE2, contents: content), into: file)
    }
}
