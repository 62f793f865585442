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
}
