import CLinux
import Coordination
import Glibc
import Telemetry

/// The usual metrics of a process, read from `/proc/self` and the system at each scrape.
enum ProcessMetrics {
    static func register(in registry: MetricsRegistry) {
        let start = Double(SystemTimekeeper().secondsSince1970)
        registry.gauge(
            "process_cpu_seconds_total", help: "User and system CPU time.", isCounter: true,
            otlp: OTLPMetric("process.cpu.time", unit: "s")
        ) { [([], cpuSeconds)] }
        registry.gauge(
            "process_resident_memory_bytes", help: "Resident memory.",
            otlp: OTLPMetric("process.memory.usage", unit: "By", isSum: true)
        ) { [([], residentBytes)] }
        registry.gauge(
            "alula_memory_allocated_bytes", help: "Bytes of all blocks from the allocator, whatever they are for."
        ) { [([], Double(CLinux_allocated_bytes()))] }
        registry.gauge(
            "process_virtual_memory_bytes", help: "Virtual memory.",
            otlp: OTLPMetric("process.memory.virtual", unit: "By", isSum: true)
        ) { [([], virtualBytes)] }
        registry.gauge(
            "process_open_fds", help: "Open descriptors.",
            otlp: OTLPMetric("process.unix.file_descriptor.count", unit: "{file_descriptor}", isSum: true)
        ) { [([], Double(openDescriptors))] }
        registry.gauge(
            "process_max_fds", help: "Bound on open descriptors.",
            otlp: OTLPMetric("alula.process.file_descriptor.limit", unit: "{file_descriptor}")
        ) {
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            return [([], Double(limit.rlim_cur))]
        }
        registry.gauge(
            "process_threads", help: "Threads.", otlp: OTLPMetric("process.thread.count", unit: "{thread}", isSum: true)
        ) { [([], Double(threads))] }
        registry.unsentGauge("process_start_time_seconds", help: "Start, in seconds since 1970.") { [([], start)] }
    }

    private static var cpuSeconds: Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static var residentBytes: Double { pages(field: 1) }
    private static var virtualBytes: Double { pages(field: 0) }
    private static var openDescriptors: Int { entries(of: "/proc/self/fd") - 1 }
    private static var threads: Int { entries(of: "/proc/self/task") }

    private static func pages(field: Int) -> Double {
        guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, CInt(line.count), file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let fields = text.split(separator: " ")
        return fields.count > field ? (Double(fields[field]) ?? 0) * Double(sysconf(CInt(_SC_PAGESIZE))) : 0
    }

    private static func entries(of folder: String) -> Int {
        guard let stream = unsafe opendir(folder) else { return 0 }
        defer { unsafe closedir(stream) }
        var count = -2
        while unsafe readdir(stream) != nil { count += 1 }
        return count
    }
}
