import CVips
import CVipsShim
import Coordination
import Memory
import Recipes

/// An error of libvips.
///
/// All threads share libvips' error buffer, so `text` may be about another thread's image: use it only for logs. The
/// operation that threw identifies the failure.
struct VipsError: Error {
    let text: String

    static func forget() { CVipsShim_forget_errors() }

    /// Converts an error of libvips to ``ImagingError/encodeFailed(detail:)``, or to the error of a stopped token.
    static func asEncodeFailure<Result>(token: WorkToken, _ body: () throws -> Result) throws -> Result {
        forget()
        do {
            return try body()
        } catch let error as VipsError {
            try token.check()
            throw ImagingError.encodeFailed(detail: error.text)
        }
    }

    static func last() -> VipsError {
        let note = unsafe String(cString: CVipsShim_note())
        var text = note
        if let buffer = unsafe CVipsShim_copy_errors() {
            defer { unsafe g_free(buffer) }
            let lines = unsafe String(cString: buffer).split(whereSeparator: \.isNewline).map(String.init)
            text = (lines + (note.isEmpty ? [] : [note])).joined(separator: "; ")
        }
        forget()
        return VipsError(text: text.isEmpty ? "libvips gives no reason" : text)
    }
}

enum VipsLibrary {
    private static let result: Result<Void, VipsError> = CVipsShim_start() == 0 ? .success(()) : .failure(.last())

    static func start() throws(VipsError) { try result.get() }

    /// Loads libvips' modules, one of which writes JPEG XL.
    static func loadModules() { CVipsShim_load_modules() }

    /// Makes a later start of libvips end the process.
    static func forbidStart() { CVipsShim_forbid_start() }

    static func disableMachineCode() { CVipsShim_disable_machine_code() }

    static func endThread() { CVipsShim_end_thread() }

    static var version: String {
        guard (try? start()) != nil else { return "none" }
        return (CInt(0)...2).map { "\(CVipsShim_version($0))" }.joined(separator: ".")
    }

    static let neededLoaders = Set(
        ImageFormat.allCases.compactMap { format -> String? in
            if case .vips(let loader) = format.decoding.loader { loader.className } else { nil }
        }
    ).sorted()

    static var loaders: [String] {
        var names: [UnsafePointer<CChar>?] = unsafe Array(repeating: nil, count: 64)
        let count = unsafe CVipsShim_loaders(&names, Int32(names.count))
        return unsafe names.prefix(Int(count)).compactMap { unsafe $0.map { unsafe String(cString: $0) } }.sorted()
    }
}
