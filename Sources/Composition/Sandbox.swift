import Coordination
package import ImageSandbox
import Settings
package import Telemetry

/// Starts workers, and logs their protections.
package enum Sandbox {
    struct Required: Error, CustomStringConvertible {
        let reason: String

        var description: String { "requireSandbox is on, but \(reason)" }
    }

    /// Returns nil if the settings select decoding in this process; throws if no worker can start.
    static func start(
        _ settings: Settings, registry: MetricsRegistry, logger: Logger, timekeeper: any Timekeeper
    ) throws -> SandboxedCodec? {
        if settings.sandbox.decodesInProcess {
            if settings.sandbox.isRequired { throw Required(reason: "so is decodeInProcess") }
            return nil
        }
        let codec = try SandboxedCodec(
            settings.sandboxConfiguration, registry: registry, logger: logger, timekeeper: timekeeper)
        if settings.sandbox.isRequired, !codec.protections.isSandbox {
            codec.shutDown()
            throw Required(reason: "this kernel offers \(codec.protections)")
        }
        return codec
    }

    package static func report(_ codec: SandboxedCodec?, to logger: Logger) {
        guard let protections = codec?.protections else {
            logger.warning("decoding is not confined", ["reason": "decodeInProcess is on"])
            return
        }
        if protections.isSandbox {
            logger.info("decoding is confined", ["by": .string(protections.description)])
        } else {
            logger.error(
                "decoding is not confined; the formats that need it are off by default",
                ["by": .string(protections.description)])
        }
    }
}
