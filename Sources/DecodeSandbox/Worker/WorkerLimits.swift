import CLinux
import Glibc

/// What the kernel grants a worker; more ends it.
package struct WorkerLimits: Hashable, Sendable {
    /// Bytes of memory beyond those that the process takes before its first picture, and beyond ``KeptMemory``.
    package var memory: Int
    /// Bytes of the pixels of one picture, or of the file of one.
    package var pixels: Int
    /// Seconds of CPU time in its whole life.
    package var processorSeconds: Int
    /// Descriptors: the standard streams, the socket, the two memories that are kept, and two for one picture.
    static let descriptors = 8

    /// Limits of these values.
    package init(memory: Int, pixels: Int, processorSeconds: Int) {
        self.memory = memory
        self.pixels = pixels
        self.processorSeconds = processorSeconds
    }

    /// Reads what ``arguments`` has written; nil for anything else.
    init?(_ arguments: [String]) {
        let numbers = arguments.compactMap { Int($0) }.filter { 1...1 << 48 ~= $0 }
        guard arguments.count == 3, numbers.count == 3 else { return nil }
        self.init(memory: numbers[0], pixels: numbers[1], processorSeconds: numbers[2])
    }

    /// What a worker is started with.
    var arguments: [String] { [memory, pixels, processorSeconds].map(String.init) }

    /// Puts the limits in force for this process, for good; whether the kernel took them all.
    func enforce() -> Bool {
        let limits: [(resource: __rlimit_resource, most: Int)] = [
            (RLIMIT_AS, Self.addressSpace + 2 * KeptMemory.count + memory), (RLIMIT_FSIZE, pixels),
            (RLIMIT_CPU, processorSeconds), (RLIMIT_NOFILE, Self.descriptors), (RLIMIT_CORE, 0),
        ]
        // All of them, whatever becomes of one.
        let isInForce = limits.map { resource, most in
            // At the second number the kernel kills without saying why.
            let second = most + (resource == RLIMIT_CPU ? 1 : 0)
            let resource = __rlimit_resource_t(resource.rawValue)
            var limit = rlimit()
            guard unsafe getrlimit(resource, &limit) == 0 else { return false }
            // Somebody may have set less.
            let hard = min(limit.rlim_max, rlim_t(second))
            limit = rlimit(rlim_cur: min(rlim_t(most), hard), rlim_max: hard)
            return unsafe setrlimit(resource, &limit) == 0
        }
        return isInForce.allSatisfy { $0 }
    }

    /// Bytes of address space that this process has now: libraries, stacks, what the allocator has reserved.
    private static var addressSpace: Int {
        let bytes = CLinux_address_space(getpid())
        return bytes < 0 ? 4 << 30 : Int(bytes)
    }
}
