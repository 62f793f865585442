import CVipsShim
import Recipes

/// Reads the directories of all pages (TIFF 6.0, and BigTIFF with 64-bit offsets).
enum TIFFHeader {
    static func read(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        var file = try TIFFFile(bytes)
        var directories: [TIFFDirectory] = []
        while let directory = try file.next(in: bytes) { directories.append(directory) }
        directories = pages(of: directories).map { directories[$0] }
        guard let first = directories.first else { throw .cannotDecode(detail: "the TIFF file has no page") }
        let count = directories.count
        let isUniform = directories.allSatisfy { $0 == first }
        // An unsupported page gets a size of one pixel, so that other pages are accessible. EXIF texts are in the
        // first directory; they are not read from BigTIFF.
        let exif = EXIFTexts(bytes, range: 0..<bytes.byteCount)
        let profile = file.profile.flatMap { SourceColors(profile: bytes.extracting($0)) }
        let page = try first.header(pages: count, exif: exif).with(profile)
        if isUniform { return page }
        let pages = directories.map { directory in
            (try? directory.header(pages: count, exif: exif))
                ?? ImageHeader(format: .tiff, storedSize: PixelSize(width: 1, height: 1), frames: count)
        }
        var header = ImageHeader(
            format: .tiff, storedSize: page.storedSize, orientation: page.orientation, bands: page.bands,
            bitDepth: page.bitDepth, frames: count, hasAlpha: page.hasAlpha, profileByteCount: page.profileByteCount,
            exif: exif)
        header.pages = pages
        header.colors = page.colors
        return header
    }

    /// - Throws: ``ImagingError/cannotDecode(detail:)`` if JPEG tiles have too many scans, because libvips reads all.
    static func directory(ofPage page: Int, in bytes: RawSpan) throws(ImagingError) -> Int {
        guard var file = try? TIFFFile(bytes) else { return page }
        var directories: [TIFFDirectory] = []
        var tiles: [TIFFFile.Tiles?] = []
        while let directory = try? file.next(in: bytes) {
            directories.append(directory)
            tiles.append(file.tiles)
        }
        let pages = pages(of: directories)
        guard pages.indices ~= page else { return page }
        let index = pages[page]
        if directories[index].isJPEG, let tiles = tiles[index] { try file.checkScans(of: tiles, in: bytes) }
        return index
    }

    private static func pages(of directories: [TIFFDirectory]) -> [Int] {
        let originals = directories.indices.filter { !directories[$0].isCopy }
        return originals.isEmpty ? Array(directories.indices) : originals
    }
}
