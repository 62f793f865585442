import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

struct ICCProfileTests {
    @Test(arguments: [ICCWriter.Curve.standard, .standardTable(1_024), .standardTable(4_096)])
    func `sRGB is recognized by its numbers`(curve: ICCWriter.Curve) {
        #expect(isSRGB(ICCWriter.profile(curve: curve)))
    }

    @Test func `other primaries or another curve are not sRGB`() {
        var primaries = ICCWriter.standardPrimaries
        #expect(!isSRGB(ICCWriter.profile(curve: .gamma(563))))
        // Red and green of Display P3.
        primaries[0] = [0.5151, 0.2412, -0.0011]
        primaries[1] = [0.2920, 0.6922, 0.0419]
        #expect(!isSRGB(ICCWriter.profile(primaries: primaries)))
    }

    @Test func `a truncated profile is not sRGB, and harmless`() {
        let profile = ICCWriter.profile(curve: .standardTable(64))
        for count in 0..<profile.count - 2 { #expect(!isSRGB(Array(profile.prefix(count)))) }
    }

    private func isSRGB(_ profile: [UInt8]) -> Bool {
        unsafe profile.withUnsafeBytes { unsafe ICCProfile($0.bytes).isSRGB }
    }
}
