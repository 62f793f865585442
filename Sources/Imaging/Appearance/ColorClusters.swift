import Glibc
import Recipes

/// The main colors of an image by k-means in Oklab (Björn Ottosson, 2020).
///
/// The start colors are deterministic, so that an image always has the same palette. Pixels that are less than half
/// opaque are ignored.
enum ColorClusters {
    private static let maximumColors = 6
    private static let rounds = 12
    /// A barely visible difference.
    private static let minimumDistance = 0.04

    static func palette(of image: SmallImage) -> [ImageAppearance.Entry] {
        let cells = cells(of: image)
        guard !cells.isEmpty else { return [] }
        var centers = merged(refined(starts(in: cells), cells: cells))
        centers.sort { ($1.weight, $0.color.red, $0.color.green) < ($0.weight, $1.color.red, $1.color.green) }
        let total = centers.reduce(0) { $0 + $1.weight }
        var shares = centers.map { $0.weight * 10_000 / total }
        // The most frequent color gets the rounding error.
        shares[0] += 10_000 - shares.reduce(0, +)
        return zip(centers, shares).filter { $1 > 0 }.map { ImageAppearance.Entry(color: $0.color, share: $1) }
    }

    fileprivate struct Point {
        var lightness = 0.0
        var a = 0.0
        var b = 0.0

        func distance(to other: Point) -> Double {
            let l = lightness - other.lightness
            let a = a - other.a
            let b = b - other.b
            return l * l + a * a + b * b
        }
    }

    private struct Cell {
        let point: Point
        let count: Int
    }

    private struct Center {
        var point: Point
        var weight: Int
        var color: Color { point.color }
    }

    private static func cells(of image: SmallImage) -> [Cell] {
        var sums: [Int: (red: Int, green: Int, blue: Int, count: Int)] = [:]
        for offset in stride(from: 0, to: image.pixels.count, by: 4) where image.pixels[offset + 3] >= 128 {
            let red = Int(image.pixels[offset])
            let green = Int(image.pixels[offset + 1])
            let blue = Int(image.pixels[offset + 2])
            let cell = (red >> 3) << 10 | (green >> 3) << 5 | blue >> 3
            let sum = sums[cell] ?? (0, 0, 0, 0)
            sums[cell] = (sum.red + red, sum.green + green, sum.blue + blue, sum.count + 1)
        }
        return sums.sorted { $0.key < $1.key }.map { entry in
            let sum = entry.value
            func mean(_ total: Int) -> Int { (2 * total + sum.count) / (2 * sum.count) }
            return Cell(
                point: Point(red: mean(sum.red), green: mean(sum.green), blue: mean(sum.blue)), count: sum.count)
        }
    }

    private static func starts(in cells: [Cell]) -> [Point] {
        var chosen: [Point] = []
        var distances = [Double](repeating: 1, count: cells.count)
        while chosen.count < maximumColors {
            let scores = cells.indices.map { Double(cells[$0].count) * distances[$0] }
            guard let best = scores.indices.max(by: { scores[$0] < scores[$1] }), scores[best] > 0 else { break }
            chosen.append(cells[best].point)
            for index in cells.indices {
                let distance = cells[index].point.distance(to: cells[best].point)
                distances[index] = chosen.count == 1 ? distance : min(distances[index], distance)
            }
        }
        return chosen
    }

    private static func refined(_ starts: [Point], cells: [Cell]) -> [Center] {
        var centers = starts.map { Center(point: $0, weight: 0) }
        for _ in 0..<rounds {
            var sums = [Point](repeating: Point(), count: centers.count)
            var weights = [Int](repeating: 0, count: centers.count)
            for cell in cells {
                let nearest =
                    centers.indices.min {
                        cell.point.distance(to: centers[$0].point) < cell.point.distance(to: centers[$1].point)
                    } ?? 0
                let weight = Double(cell.count)
                sums[nearest].lightness += cell.point.lightness * weight
                sums[nearest].a += cell.point.a * weight
                sums[nearest].b += cell.point.b * weight
                weights[nearest] += cell.count
            }
            for index in centers.indices {
                centers[index].weight = weights[index]
                guard weights[index] > 0 else { continue }
                let weight = Double(weights[index])
                centers[index].point = Point(
                    lightness: sums[index].lightness / weight, a: sums[index].a / weight, b: sums[index].b / weight)
            }
        }
        return centers.filter { $0.weight > 0 }
    }

    private static func merged(_ centers: [Center]) -> [Center] {
        var distinct: [Center] = []
        for center in centers.sorted(by: { $0.weight > $1.weight }) {
            if let index = distinct.firstIndex(where: {
                $0.point.distance(to: center.point) < minimumDistance * minimumDistance
            }) {
                distinct[index].weight += center.weight
            } else {
                distinct.append(center)
            }
        }
        return distinct
    }
}

extension ColorClusters.Point {
    fileprivate init(red: Int, green: Int, blue: Int) {
        let red = SRGBCurve.light[red]
        let green = SRGBCurve.light[green]
        let blue = SRGBCurve.light[blue]
        let long = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
        let middle = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
        let short = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
        lightness = 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short
        a = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
        b = 0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short
    }

    fileprivate var color: Color {
        func cube(_ value: Double) -> Double { value * value * value }
        let long = cube(lightness + 0.3963377774 * a + 0.2158037573 * b)
        let middle = cube(lightness - 0.1055613458 * a - 0.0638541728 * b)
        let short = cube(lightness - 0.0894841775 * a - 1.2914855480 * b)
        func component(_ light: Double) -> UInt8 { UInt8(SRGBCurve.component(of: light)) }
        return Color(
            red: component(4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short),
            green: component(-1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short),
            blue: component(-0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short))
    }
}
