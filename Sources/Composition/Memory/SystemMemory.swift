import Glibc

package struct SystemMemory {
    let root: String
    private let machine: Int

    package init(root: String = "", machine: Int = sysconf(CInt(_SC_PHYS_PAGES)) * sysconf(CInt(_SC_PAGESIZE))) {
        self.root = root
        self.machine = machine
    }

    /// The minimum of the machine's memory and the limits of the process's control groups, in bytes.
    package var limit: Int {
        groups.compactMap { number(in: $0 + "/memory.max") ?? number(in: $0 + "/memory.limit_in_bytes") }
            .reduce(machine, min)
    }

    /// The file with the time that tasks waited for memory, of the process's group or else of the machine.
    var pressureFile: String? {
        let files = groups.map { $0 + "/memory.pressure" } + [root + "/proc/pressure/memory"]
        return files.first { text(of: $0) != nil }
    }

    /// The control groups from the innermost to the root, of cgroup versions 2 and 1.
    private var groups: [String] {
        guard let lines = text(of: root + "/proc/self/cgroup")?.split(separator: "\n") else { return [] }
        return lines.flatMap { line -> [String] in
            // Version 2 has `0::/path`, version 1 has `7:cpu,memory:/path`.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            let isUnified = fields[0] == "0" && fields[1].isEmpty
            guard isUnified || fields[1].split(separator: ",").contains("memory") else { return [] }
            return folders(above: fields[2], in: root + (isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"))
        }
    }

    /// A container sees its own group at the root, regardless of the path, so the root is always included.
    private func folders(above path: Substring, in mount: String) -> [String] {
        var names = path.split(separator: "/")
        var folders: [String] = []
        while !names.isEmpty {
            folders.append(mount + "/" + names.joined(separator: "/"))
            names.removeLast()
        }
        return folders + [mount]
    }

    /// Returns the number in a file; nil if the file is missing or contains `max`.
    private func number(in file: String) -> Int? { text(of: file).flatMap { Int($0.prefix { $0.isNumber }) } }

    func text(of path: String) -> String? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        guard unsafe ferror(file) == 0, count > 0 else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
