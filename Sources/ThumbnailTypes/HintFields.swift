import Crypto
package import HTTPTypes
import Recipes
import Text

package struct HintFields: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let secWidth = HintFields(rawValue: 1)
    package static let width = HintFields(rawValue: 2)
    package static let secRatio = HintFields(rawValue: 4)
    package static let ratio = HintFields(rawValue: 8)
    package static let saveData = HintFields(rawValue: 16)
    package static let widths: HintFields = [.secWidth, .width]
    package static let ratios: HintFields = [.secRatio, .ratio]
    package static let all: HintFields = [.widths, .ratios, .saveData]

    private static let named: [(HintFields, HTTPField.Name)] = [
        (.secWidth, .secCHWidth), (.width, .width), (.secRatio, .secCHDPR), (.ratio, .dpr), (.saveData, .saveData),
    ]

    package var name: HTTPField.Name? { Self.named.first { $0.0 == self }?.1 }

    package var names: [String] { Self.named.filter { contains($0.0) }.map(\.1.rawName) }
}
