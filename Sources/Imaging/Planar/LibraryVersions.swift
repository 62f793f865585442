import CPlanarShim

extension ImageLibrary {
    /// The libraries that make results, with their versions: others may make other bytes of the same plan.
    package static var versions: String {
        var text = [CChar](repeating: 0, count: Int(CPlanarShim_text_size))
        unsafe CPlanarShim_versions(&text)
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "libvips \(version), \(name)"
    }
}
