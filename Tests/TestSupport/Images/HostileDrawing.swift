/// SVG files that try to read files, use the network, or exhaust CPU time or memory.
package enum HostileDrawing {
    package struct Sample: Sendable, CustomStringConvertible {
        package let name: String
        package let file: [UInt8]
        package var description: String { name }
    }

    /// The size of all samples.
    package static let (width, height) = (64, 48)

    /// Files with external references, which must render like the same file without the reference.
    ///
    /// - Parameters:
    ///   - image: The absolute path of an image that the files refer to.
    ///   - port: A port with a listener.
    package static func referring(toImage image: String, port: Int) -> [Sample] {
        let places = [
            "file://\(image)", image, String(image.split(separator: "/").last ?? ""),
            "http://127.0.0.1:\(port)/a.png", "//127.0.0.1:\(port)/a.png",
        ]
        var samples: [Sample] = []
        for (index, place) in places.enumerated() {
            samples += [
                sample("image \(index)", "<image width='64' height='48' xlink:href='\(place)'/>"),
                sample("new image \(index)", "<image width='64' height='48' href='\(place)'/>"),
                sample("use \(index)", "<use xlink:href='\(place)#a'/>"),
                sample(
                    "style \(index)",
                    "<style>@import url('\(place)'); @font-face { font-family: a; src: url('\(place)') }</style>"),
                sample(
                    "filter \(index)",
                    "<rect width='64' height='48' fill='none' filter='url(\(place)#a)'/>"
                        + "<filter id='f'><feImage xlink:href='\(place)'/></filter><g filter='url(#f)'></g>"),
            ]
        }
        samples += [
            Sample(
                name: "external entity",
                file: Array(
                    "<!DOCTYPE svg [<!ENTITY a SYSTEM 'file://\(image)'>]>\(root)<text y='20'>&a;</text></svg>".utf8)),
            Sample(
                name: "parameter entity",
                file: Array(
                    "<!DOCTYPE svg [<!ENTITY % a SYSTEM 'http://127.0.0.1:\(port)/a.dtd'> %a;]>\(root)</svg>".utf8)),
            Sample(
                name: "external type",
                file: Array("<!DOCTYPE svg SYSTEM 'http://127.0.0.1:\(port)/a.dtd'>\(root)</svg>".utf8)),
            Sample(
                name: "style sheet",
                file: Array("<?xml-stylesheet href='http://127.0.0.1:\(port)/a.css'?>\(root)</svg>".utf8)),
            sample(
                "inclusion",
                "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='file:///etc/passwd' parse='text'/>"),
            sample("script", "<script>location='http://127.0.0.1:\(port)/'</script>"),
            sample("event", "<rect width='1' height='1' fill='none' onload=\"fetch('http://127.0.0.1:\(port)/')\"/>"),
            sample(
                "frame", "<foreignObject width='9' height='9'><iframe src='file:///etc/passwd'/></foreignObject>"),
            sample("link", "<a xlink:href='http://127.0.0.1:\(port)/'><rect width='0' height='0'/></a>"),
        ]
        return samples
    }

    /// Files that need much time or memory, which must be rejected or rendered within the limits.
    package static let all: [Sample] = {
        let lol = (1...9).map { "<!ENTITY l\($0) '\(String(repeating: "&l\($0 - 1);", count: 10))'>" }.joined()
        let uses = (1...30).map { "<g id='u\($0)'><use xlink:href='#u\($0 - 1)'/><use xlink:href='#u\($0 - 1)'/></g>" }
        let patterns = (1...12).map {
            "<pattern id='p\($0)' width='.01' height='.01'><rect width='9' height='9' fill='url(#p\($0 - 1))'/></pattern>"
        }
        let masks = (1...14).map {
            "<mask id='m\($0)'><rect width='64' height='48' mask='url(#m\($0 - 1))'/>"
                + "<rect width='64' height='48' mask='url(#m\($0 - 1))'/></mask>"
        }
        let merges = String(repeating: "<feMergeNode/>", count: 20_000)
        return [
            Sample(
                name: "billion laughs",
                file: Array("<!DOCTYPE svg [<!ENTITY l0 'lol'>\(lol)]>\(root)<text y='20'>&l9;</text></svg>".utf8)),
            Sample(
                name: "entity of itself",
                file: Array("<!DOCTYPE svg [<!ENTITY a '&a;'>]>\(root)<text>&a;</text></svg>".utf8)),
            sample(
                "doubled uses",
                "<defs><rect id='u0' width='9' height='9'/>\(uses.joined())</defs><use xlink:href='#u30'/>"),
            sample("use of itself", "<g id='a'><use xlink:href='#a'/></g>"),
            sample(
                "nested patterns", "<defs>\(patterns.joined())</defs><rect width='64' height='48' fill='url(#p12)'/>"),
            sample("nested masks", "<defs>\(masks.joined())</defs><rect width='64' height='48' mask='url(#m14)'/>"),
            filter("wide blur", "<feGaussianBlur stdDeviation='1e9'/>"),
            filter("many blurs", String(repeating: "<feGaussianBlur stdDeviation='400'/>", count: 300)),
            filter("wide dilation", "<feMorphology operator='dilate' radius='100000'/>"),
            filter(
                "large matrix",
                "<feConvolveMatrix order='1000' kernelMatrix='\(String(repeating: "1 ", count: 10_000))'/>"),
            filter("many octaves", "<feTurbulence baseFrequency='9' numOctaves='1000000000'/>"),
            filter("many nodes", "<feMerge>\(merges)</feMerge>"),
            sample(
                "deep nesting",
                String(repeating: "<g opacity='.9'>", count: 20_000) + String(repeating: "</g>", count: 20_000)),
            sample("many elements", String(repeating: "<rect width='64' height='48' opacity='.01'/>", count: 100_000)),
            sample("fine dashes", "<path d='M0 0H1e9' stroke='red' stroke-width='9' stroke-dasharray='.0001'/>"),
            sample("long path", "<path d='M0 0\(String(repeating: "l9 9 -9 -3", count: 100_000))' stroke='red'/>"),
            sample("large text", "<text font-size='1e7' y='48'>\(String(repeating: "M", count: 10_000))</text>"),
            sample("many fonts", (0..<400).map { "<text font-family='f\($0)' y='9'>a</text>" }.joined()),
            sample("large image", "<image width='64' height='48' xlink:href='data:image/png;base64,\(giantPNG)'/>"),
            sample("no end", "<g><g><g>", end: ""),
            sample("not a number", "<rect width='nan' height='inf' x='1e400' transform='scale(1e300) rotate(nan)'/>"),
        ]
    }()

    private static let root =
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='\(width)' height='\(height)'>"

    private static func sample(_ name: String, _ content: String, end: String = "</svg>") -> Sample {
        Sample(name: name, file: Array((root + content + end).utf8))
    }

    private static func filter(_ name: String, _ content: String) -> Sample {
        sample(
            name,
            "<filter id='f' x='-9' y='-9' width='99' height='99'>\(content)</filter><rect width='64' height='48' filter='url(#f)'/>"
        )
    }

    /// The header of a 60000×60000 PNG, in Base64.
    private static let giantPNG =
        "iVBORw0KGgoAAAANSUhEUgAA6mAAAOpgCAIAAAA8c5lRAAAACklEQVR42mMAAQAABQABDQottAAAAABJRU5ErkJggg=="
}
