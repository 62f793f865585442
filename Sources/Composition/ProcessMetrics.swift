import CLinux
import Coordination
import Glibc
import Program
import Telemetry

package enum ProcessMetrics {
    /// The processor time of this process and its worker processes.
    package static var totalCPUSeconds: Double { cpuSeconds + childrenCPUSeconds }

    static func register(in registry: MetricsRegistry) {
        let start = Double(SystemTimekeeper().secondsSince1970)
        registry.observableCounter(
            "process_cpu_seconds_total", help: "User and system CPU time.",
            otlp: OTLPMetric("process.cpu.time", unit: "s")
        ) { [([], cpuSeconds)] }
        registry.observableCounter(
            "alula_process_cpu_seconds_total",
            help: "User and system CPU time of the serving process and of the worker processes.", labels: "process",
            otlp: OTLPMetric("alula.process.cpu.time", unit: "s")
        ) { [(["serving"], cpuSeconds), (["workers"], childrenCPUSeconds)] }
        registry.gauge(
            "alula_resident_bytes",
            help: "Resident memory of the serving process and of the worker processes; shared pages count in each.",
            labels: "process", otlp: OTLPMetric("alula.process.memory.usage", unit: "By", isUpDownCounter: true)
        ) { [(["serving"], residentBytes), (["workers"], children.map(residentBytes(of:)).reduce(0, +))] }
        registry.gauge(
            "process_resident_memory_bytes", help: "Resident memory.",
            otlp: OTLPMetric("process.memory.usage", unit: "By", isUpDownCounter: true)
        ) { [([], residentBytes)] }
        registry.gauge(
            "alula_memory_allocated_bytes", help: "Bytes allocated by malloc."
        ) { [([], Double(CLinux_allocated_bytes()))] }
        registry.gauge(
            "process_virtual_memory_bytes", help: "Virtual memory.",
            otlp: OTLPMetric("process.memory.virtual", unit: "By", isUpDownCounter: true)
        ) { [([], virtualBytes)] }
        registry.gauge(
            "process_open_fds", help: "Open file descriptors.",
            otlp: OTLPMetric("process.unix.file_descriptor.count", unit: "{file_descriptor}", isUpDownCounter: true)
        ) { [([], Double(openDescriptors))] }
        registry.gauge(
            "process_max_fds", help: "Limit on open file descriptors.",
            otlp: OTLPMetric("alula.process.file_descriptor.limit", unit: "{file_descriptor}")
        ) {
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            return [([], Double(limit.rlim_cur))]
        }
        registry.gauge(
            "process_threads", help: "Threads.",
            otlp: OTLPMetric("process.thread.count", unit: "{thread}", isUpDownCounter: true)
        ) { [([], Double(threads))] }
        registry.prometheusGauge(
            "alula_build_info", help: "Constant 1, labeled with version and revision.", labels: "version", "revision"
        ) { [([Program.version, Program.revision], 1)] }
        registry.prometheusGauge("process_start_time_seconds", help: "Start time as Unix time.") { [([], start)] }
    }

    private static var cpuSeconds: Double { cpuSeconds(RUSAGE_SELF) }

    private static var childrenCPUSeconds: Double {
        let ticks = children.flatMap { process -> [Double] in
            // The name of the process, in parentheses, may contain spaces.
            let fields = (text("/proc/\(process)/stat").split(separator: ")").last ?? "").split(separator: " ")
            return fields.count > 14 ? fields[11...12].compactMap { Double($0) } : []
        }
        return cpuSeconds(RUSAGE_CHILDREN) + ticks.reduce(0, +) / Double(sysconf(CInt(_SC_CLK_TCK)))
    }

    private static func cpuSeconds(_ who: __rusage_who) -> Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(who.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static var residentBytes: Double { residentBytes(of: "self") }
    private static var virtualBytes: Double { pages(of: "self", field: 0) }
    private static var openDescriptors: Int { (Program.names(in: "/proc/self/fd")?.count ?? 0) - 1 }
    private static var threads: Int { Program.names(in: "/proc/self/task")?.count ?? 0 }

    private static var children: [String] {
        (Program.names(in: "/proc/self/task") ?? []).flatMap { thread in
            text("/proc/self/task/\(thread)/children").split(separator: " ").map(String.init)
        }
    }

    private static func residentBytes(of process: String) -> Double { pages(of: process, field: 1) }

    private static func pages(of process: String, field: Int) -> Double {
        let fields = text("/proc/\(process)/statm").split(separator: " ")
        return fields.count > field ? (Double(fields[field]) ?? 0) * Double(sysconf(CInt(_SC_PAGESIZE))) : 0
    }

    private static func text(_ path: String) -> String {
        guard let file = unsafe fopen(path, "r") else { return "" }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 4_096)
        guard unsafe fgets(&line, CInt(line.count), file) != nil else { return "" }
        return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
