extension Color {
    /// This colour composited over an opaque one, which is opaque.
    package func composited(over backdrop: Color) -> Color {
        func mix(_ front: UInt8, _ back: UInt8) -> UInt8 {
            let sum = Int(front) * Int(alpha) + Int(back) * (255 - Int(alpha))
            return UInt8((2 * sum + 255) / 510)
        }
        return Color(
            red: mix(red, backdrop.red), green: mix(green, backdrop.green), blue: mix(blue, backdrop.blue))
    }

    /// Whether a grey image can hold this colour.
    var isGrey: Bool { red == green && green == blue }

    /// The colour's text in the key of a cached result: the values of red, green, blue and alpha.
    var keyText: String { "\(red),\(green),\(blue),\(alpha)" }
}
