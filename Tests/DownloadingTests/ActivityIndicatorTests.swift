import Testing

@testable import Downloading

struct ActivityIndicatorTests {
    @Test func `the indicator shows a second after work begins and hides 0.17 s after it ends`() {
        var indicator = ActivityIndicator()
        indicator.update(isWorking: true, at: .seconds(10))
        #expect(!indicator.isVisible(at: .milliseconds(10_999)))
        #expect(indicator.isVisible(at: .seconds(11)))
        indicator.update(isWorking: false, at: .seconds(12))
        #expect(indicator.isVisible(at: .milliseconds(12_169)))
        #expect(!indicator.isVisible(at: .milliseconds(12_170)))
    }

    @Test func `work shorter than a second never shows`() {
        var indicator = ActivityIndicator()
        for start in 0..<10 {
            indicator.update(isWorking: true, at: .seconds(start))
            indicator.update(isWorking: false, at: .seconds(start) + .milliseconds(900))
            #expect(!indicator.isVisible(at: .seconds(start) + .milliseconds(999)))
        }
    }

    @Test func `a short pause does not flicker`() {
        var indicator = ActivityIndicator()
        indicator.update(isWorking: true, at: .zero)
        indicator.update(isWorking: false, at: .seconds(2))
        indicator.update(isWorking: true, at: .milliseconds(2_100))
        for time in stride(from: 2_000, to: 4_000, by: 10) { #expect(indicator.isVisible(at: .milliseconds(time))) }
        indicator.update(isWorking: false, at: .seconds(4))
        indicator.update(isWorking: true, at: .milliseconds(4_200))
        #expect(!indicator.isVisible(at: .milliseconds(4_200)))
        #expect(indicator.isVisible(at: .milliseconds(5_200)))
    }
}
