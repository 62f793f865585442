import CLinux
import CSeccompShim
import Coordination
import Glibc
import Imaging

/// How a worker gives up what decoding does not need, in the order in which that is possible.
enum Confinement {
    /// Starts the image library and confines this process, for good; what is in force afterwards.
    ///
    /// - Throws: What the image library says; the process is of no use then.
    static func confine(_ limits: WorkerLimits, socket: CInt) throws -> Protections {
        var protections = Protections.none
        _ = CLinux_die_with_parent()
        preferAsVictim()
        try ImageLibrary.startDecoding()
        // The limit on memory counts from here, and the file that says how much there is can still be read.
        protections.hasLimits = limits.enforce()
        protections.hasNoNewPrivileges = CLinux_set_no_new_privileges() == 0
        // This thread is the only one so far, and those that libraries start later inherit what it may not do.
        if CLinux_landlock_deny_all() == 0 { protections.landlockVersion = Int(CLinux_landlock_version()) }
        try WarmUp.run()
        protections.isSupervised = CSeccompShim_confine_supervised(socket, Self.handOver) == 0
        protections.hasSystemCallFilter = protections.isSupervised || CSeccompShim_confine_alone(socket) == 0
        return protections
    }

    /// Gives the server the descriptor at which the kernel asks about this process.
    private static let handOver: @convention(c) (CInt, CInt) -> CInt = { socket, listener in
        let message = WorkerAnswer.supervised.message
        return unsafe CLinux_send(socket, message, message.count, [listener], 1)
    }

    /// When memory is short the kernel is to end a worker, which is replaced, and not the service.
    private static func preferAsVictim() {
        let descriptor = unsafe open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = unsafe write(descriptor, "500", 3)
        close(descriptor)
    }
}

/// Decodes one small picture in each way that needs it, so that the libraries have made and looked up what they keep.
enum WarmUp {
    /// - Throws: ``ImagingError`` where a format does not work at all.
    static func run() throws {
        let size = PixelSize(width: 32, height: 32)
        for format in ImageFormat.allCases {
            guard let bands = format.warmUpBands else { continue }
            let pixels = (0..<size.area * bands).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let file = try ImageEncoder.encode(
                pixels: pixels, size: size, bands: bands, format: format, quality: nil
            ).bytes
            let header = try ImageHeader.inspect(file)
            for lane in ImageDecoder.Lane.allCases {
                _ = try ImageDecoder.decode(
                    file, header: header, plan: DecodePlan(level: 2), limits: .none, token: WorkToken(), lane: lane)
            }
        }
    }
}

extension Protections {
    /// What the kernel of this machine offers.
    package static var offered: Protections {
        Protections(
            hasNoNewPrivileges: true, hasSystemCallFilter: CSeccompShim_is_available() != 0, isSupervised: true,
            hasLimits: true, landlockVersion: Int(CLinux_landlock_version()))
    }
}
