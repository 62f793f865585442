import CLinux
import Glibc
import Recipes

package struct WorkerLimits: Hashable, Sendable {
    /// The memory in bytes for an image, in addition to the initial address space and ``ReusableMemory``.
    package var memory: Int
    /// The number of bytes that may be written to shared memory: the pixels of one image, or its file.
    package var pixels: Int
    package var processorSeconds: Int
    /// The standard streams, the socket, the two reusable memories, and two for one request.
    static let descriptors = 8

    package init(memory: Int, pixels: Int, processorSeconds: Int) {
        self.memory = memory
        self.pixels = pixels
        self.processorSeconds = processorSeconds
    }

    init?(_ arguments: [String]) {
        let numbers = arguments.compactMap { Int($0) }.filter { 1...1 << 48 ~= $0 }
        guard arguments.count == 3, numbers.count == 3 else { return nil }
        self.init(memory: numbers[0], pixels: numbers[1], processorSeconds: numbers[2])
    }

    var arguments: [String] { [memory, pixels, processorSeconds].map(String.init) }

    /// Sets the limits permanently; returns whether the kernel accepted all of them.
    func enforce() -> Bool {
        var limits: [(resource: __rlimit_resource, most: Int)] = [
            (RLIMIT_FSIZE, pixels), (RLIMIT_CPU, processorSeconds), (RLIMIT_NOFILE, Self.descriptors),
            (RLIMIT_CORE, 0),
        ]
        #if !SANITIZING
        // A sanitizer maps its own memory at any time, and ends the process if it cannot.
        limits.append((RLIMIT_AS, Self.addressSpace + 2 * ReusableMemory.count + memory))
        #endif
        // Set all limits, even if one fails.
        let isInForce = limits.map { resource, most in
            // At the hard limit on CPU time the kernel sends SIGKILL, which does not reveal the cause, so SIGXCPU must
            // come first.
            let second = most + (resource == RLIMIT_CPU ? 1 : 0)
            let resource = __rlimit_resource_t(resource.rawValue)
            var limit = rlimit()
            guard unsafe getrlimit(resource, &limit) == 0 else { return false }
            // The system may have set a lower limit.
            let hard = min(limit.rlim_max, rlim_t(second))
            limit = rlimit(rlim_cur: min(rlim_t(most), hard), rlim_max: hard)
            return unsafe setrlimit(resource, &limit) == 0
        }
        return isInForce.allSatisfy { $0 }
    }

    /// The initial address space in bytes: libraries, stacks and the allocator's reserves.
    private static var addressSpace: Int {
        let bytes = CLinux_address_space(getpid())
        return bytes < 0 ? 4 << 30 : Int(bytes)
    }
}

/// The message that starts a forked worker: its limits and formats.
struct ForkRequest: Equatable {
    let limits: WorkerLimits
    let formats: Set<ImageFormat>

    static let byteCount = 256

    init(limits: WorkerLimits, formats: Set<ImageFormat>) {
        self.limits = limits
        self.formats = formats
    }

    init?(_ message: [UInt8]) {
        let words = String(decoding: message.prefix { $0 != 0 }, as: UTF8.self)
            .split(separator: " ").map(String.init)
        guard let limits = WorkerLimits(Array(words.prefix(3))) else { return nil }
        let formats = words.dropFirst(3).map { ImageFormat(rawValue: $0) }
        guard !formats.contains(nil) else { return nil }
        self.init(limits: limits, formats: Set(formats.compactMap(\.self)))
    }

    var message: [UInt8] {
        let text = (limits.arguments + formats.map(\.rawValue).sorted()).joined(separator: " ")
        return Array(text.utf8) + [UInt8](repeating: 0, count: Self.byteCount - text.utf8.count)
    }
}
