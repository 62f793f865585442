import Testing

@testable import Dialects

@Suite struct URLSignerTests {
    private static let key = [UInt8](0..<32)
    private static let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=300&expires=4102444800"
    private static let signed = target + "&sig=g-tnX5_mnfIErfrWTj1_P9BwaJI8Jcjy-sS4oZgy6c8"

    @Test func `a target signed with a known key has the documented signature`() {
        #expect(URLSigner.sign(target: Self.target, key: Self.key) == Self.signed)
    }

    @Test func `a signature of any configured key is valid`() {
        let other = [UInt8](repeating: 7, count: 32)
        #expect(URLSigner.verify(target: Self.signed, keys: [Self.key]))
        #expect(URLSigner.verify(target: Self.signed, keys: [other, Self.key]))
        #expect(URLSigner.verify(target: Self.signed, keys: [Self.key, other]))
        #expect(!URLSigner.verify(target: Self.signed, keys: [other]))
        #expect(!URLSigner.verify(target: Self.signed, keys: []))
    }

    @Test(arguments: [
        target,
        target + "&sig=",
        signed + "=",
        signed + "&w=1",
        signed + "A",
        String(signed.dropLast()),
        String(signed.dropLast()) + "9",
        signed.replacing("w=300", with: "w=301"),
        signed.replacing("w=300", with: "w=%3300"),
        signed.replacing("%2F", with: "/"),
        signed.replacing("%3A", with: "%3a"),
        signed.replacing("/thumbnail", with: "//thumbnail"),
        signed.replacing("&sig", with: "&si%67"),
        signed.replacing("_m", with: "/m").replacing("1_", with: "1/").replacing("-", with: "+"),
        signed.replacing("_", with: "%5F"),
        signed + "&sig=g-tnX5_mnfIErfrWTj1_P9BwaJI8Jcjy-sS4oZgy6c8",
        "&sig=", "",
    ])
    func `only the exact signed text is valid`(target: String) {
        #expect(!URLSigner.verify(target: target, keys: [Self.key]))
    }
}
