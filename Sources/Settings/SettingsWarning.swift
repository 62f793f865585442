import Coordination
import Dialects
import Downloading
import HTTPServing
import HTTPTypes
package import Telemetry
import Text
import ThumbnailAPI

package struct SettingsWarning {
    let setting: String
    package let message: StaticString
    package let values: Logger.Metadata

    /// The warning in one line, with the setting's position in the file.
    package var problem: SettingsProblem {
        let values = values.map { "\($0.key): \($0.value.text)" }.joined(separator: ", ")
        return SettingsProblem(path: setting, line: "\(message)" + (values.isEmpty ? "" : " (\(values))"))
    }
}

extension Settings {
    /// Returns warnings about valid settings that are unsafe, or work against each other.
    ///
    /// - Parameter memory: The memory of the machine or of its control group, in bytes.
    package func warnings(memory: Int) -> [SettingsWarning] {
        var warnings: [SettingsWarning] = []
        func warn(_ setting: String, _ message: StaticString, values: Logger.Metadata = [:]) {
            warnings.append(SettingsWarning(setting: setting, message: message, values: values))
        }
        if let setting = ["shutdownTimeout", "requestTimeout"].first(where: { chosen[ExactText($0)] != nil }),
            shutdownTimeout < api.requestTimeout
        {
            warn(
                setting, "shutdownTimeout is shorter than requestTimeout, so a stop aborts requests",
                values: [
                    "shutdownTimeout": "\(Int(shutdownTimeout.milliseconds))ms",
                    "requestTimeout": "\(Int(api.requestTimeout.milliseconds))ms",
                ])
        }
        let networks = downloads.allowedNetworks.filter(Self.includesMetadataServices)
        if !networks.isEmpty {
            warn(
                "allowedNetworks",
                "allowedNetworks lets clients name link-local addresses or those of metadata services",
                values: ["networks": .string(networks.map(\.description).joined(separator: ","))])
        }
        if api.adminToken == nil, let address = IPAddress(adminListener.bindAddress),
            !Self.loopback.contains(where: { $0.contains(address) })
        {
            warn(
                "adminBind", "adminBind is not a loopback address, and the admin listener has no adminToken",
                values: ["adminBind": .string(adminListener.bindAddress)])
        }
        if case .bytes(let budget) = memoryBudget, budget > memory {
            warn(
                "memoryBudget", "memoryBudget exceeds the memory of the machine or control group",
                values: ["memoryBudget": .int(budget), "memory": .int(memory)])
        }
        if dialects.thumbor.key == Array("MY_SECURE_KEY".utf8) {
            warn("thumborKey", "thumborKey is thumbor's public default; anyone can sign URLs")
        }
        if let first = overridden.first {
            let variables = overridden.compactMap { SettingTable.named($0)?.environmentName }
            warn(
                first, "the environment overrides the settings file",
                values: [
                    "settings": .string(overridden.joined(separator: ",")),
                    "variables": .string(variables.joined(separator: ",")),
                ])
        }
        return warnings
    }

    private static func includesMetadataServices(_ network: AddressNetwork) -> Bool {
        metadataServices.contains { network.contains($0) } || linkLocal.contains { $0.overlaps(network) }
    }

    /// Metadata services of Amazon (IPv6), Alibaba and Oracle; others have link-local addresses.
    private static let metadataServices = ["fd00:ec2::254", "100.100.100.200", "192.0.0.192"].compactMap(IPAddress.init)
    private static let linkLocal = ["169.254.0.0/16", "fe80::/10"].compactMap(AddressNetwork.init)
    private static let loopback = ["127.0.0.0/8", "::1/128"].compactMap(AddressNetwork.init)
}
