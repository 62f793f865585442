extension Color {
    /// This colour laid over an opaque one: opaque.
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

    /// The colour in the key of a kept result: the values of red, green, blue and alpha.
    var keyText: String { "\(red),\(green),\(blue),\(alpha)" }
}
