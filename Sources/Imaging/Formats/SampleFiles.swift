/// Small files of formats that are read and not written: a worker process decodes them before it is confined.
enum SampleFiles {
    /// One grey pixel, little-endian.
    static let tiff: [UInt8] = {
        let entries: [(tag: UInt8, type: UInt8, value: UInt8)] = [
            (0, 3, 1), (1, 3, 1), (2, 3, 8), (3, 3, 1), (6, 3, 1), (17, 4, 8), (21, 3, 1), (22, 3, 1), (23, 4, 1),
        ]
        let directory = entries.flatMap { [$0.tag, 1, $0.type, 0, 1, 0, 0, 0, $0.value, 0, 0, 0] as [UInt8] }
        return [0x49, 0x49, 42, 0, 10, 0, 0, 0, 128, 0, UInt8(entries.count), 0] + directory + [0, 0, 0, 0]
    }()

    /// Text, a gradient, a filter, and an image within the image.
    static let svg = Array(
        """
        <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="48">
        <defs><linearGradient id="g"><stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient>
        <filter id="f"><feGaussianBlur stdDeviation="2"/><feTurbulence baseFrequency="0.1"/></filter></defs>
        <rect width="64" height="48" fill="url(#g)"/><circle cx="32" cy="24" r="9" filter="url(#f)"/>
        <text x="4" y="20">Ag</text><image width="1" height="1" xlink:href="data:image/png;base64,\(pixel)"/></svg>
        """.utf8)

    /// A PNG file of one pixel.
    private static let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
}
