import Coordination
import Dialects
import Downloading
import HTTPServing
package import Telemetry
import Text
import ThumbnailAPI

package struct SettingsWarning {
    package let message: StaticString
    package let values: Logger.Metadata
}

extension Settings {
    /// Valid settings that are unsafe, or work against each other.
    ///
    /// - Parameter memory: Of the machine or of its control group, in bytes.
    package func warnings(memory: Int) -> [SettingsWarning] {
        var warnings: [SettingsWarning] = []
        func warn(_ message: StaticString, _ values: Logger.Metadata) {
            warnings.append(SettingsWarning(message: message, values: values))
        }
        if chosen.contains("shutdownTimeout") || chosen.contains("requestTimeout"), shutdownTimeout < api.requestTimeout
        {
            warn(
                "shutdownTimeout is shorter than requestTimeout, so a stop aborts requests",
                [
                    "shutdownTimeout": "\(Int(shutdownTimeout.milliseconds))ms",
                    "requestTimeout": "\(Int(api.requestTimeout.milliseconds))ms",
                ])
        }
        let networks = downloads.allowedNetworks.filter(Self.includesMetadataServices)
        if !networks.isEmpty {
            warn(
                "allowedNetworks lets clients name link-local addresses or those of metadata services",
                ["networks": .string(networks.map(\.description).joined(separator: ","))])
        }
        if let address = IPAddress(adminListener.bindAddress),
            AddressPolicy.isPublic(address) || Self.unspecified.contains(where: { $0.contains(address) })
        {
            warn(
                "adminBind is not a private address; the admin listener has no authentication",
                ["adminBind": .string(adminListener.bindAddress)])
        }
        if case .bytes(let budget) = memoryBudget, budget > memory {
            warn(
                "memoryBudget exceeds the memory of the machine or control group",
                ["memoryBudget": .int(budget), "memory": .int(memory)])
        }
        if dialects.thumbor.key == Array("MY_SECURE_KEY".utf8) {
            warn("thumborKey is thumbor's public default; anyone can sign URLs", [:])
        }
        return warnings
    }

    private static func includesMetadataServices(_ network: AddressNetwork) -> Bool {
        metadataServices.contains { network.contains($0) } || linkLocal.contains { $0.overlaps(network) }
    }

    /// The services of Amazon (IPv6), Alibaba and Oracle; the others are link-local.
    private static let metadataServices = ["fd00:ec2::254", "100.100.100.200", "192.0.0.192"].compactMap(IPAddress.init)
    private static let linkLocal = ["169.254.0.0/16", "fe80::/10"].compactMap(AddressNetwork.init)
    private static let unspecified = ["0.0.0.0/32", "::/128"].compactMap(AddressNetwork.init)
}
