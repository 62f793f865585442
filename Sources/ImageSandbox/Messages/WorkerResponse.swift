package import Glibc
package import Imaging
package import Recipes

/// The response of a worker, of fixed size; the server checks every number in it.
package enum WorkerResponse: Hashable, Sendable {
    case ready(Protections)
    /// The worker could not start; the text is for logs.
    case notStarted(String)
    /// The image is decoded; its pixels are in the output memory, followed by delays and the profile.
    case decoded(ClaimedImage)
    case encoded(byteCount: Int)
    case faces([Face])
    /// The image is damaged, or cannot be encoded; the text is for logs.
    case failed(String)
    /// The image failed, and intact images may now fail in this process; the text is for logs.
    case unreliable(String)
    /// There is too little memory; the image is not at fault.
    case outOfMemory
    case attempted(CInt)
    /// The message carries the descriptor on which the kernel reports this worker's system calls.
    case supervised
    case prepared
    /// The process ID of a template's new copy; negative if copying failed.
    case copied(pid_t)

    package struct ClaimedImage: Hashable, Sendable {
        /// The image without delays and profile, which follow the pixels.
        package var description: DecodedDescription
        package var pixelCount: Int
        package var delayCount: Int
        package var profileCount: Int
        /// The coarser levels; their pixels follow the image's pixels.
        package var coarser: [DecodedDescription] = []

        package var tailCount: Int { 4 * delayCount + profileCount }
    }

    package static let byteCount = MessageCoder.messageLength

    /// The first byte of a message.
    private enum Kind: Int {
        case ready = 1
        case notStarted, decoded, encoded, failed, outOfMemory, attempted, supervised, prepared, copied, unreliable,
            faces

        /// A response of this kind, to start reading from.
        var initialResponse: WorkerResponse {
            switch self {
            case .ready: .ready(.none)
            case .notStarted: .notStarted("")
            case .decoded:
                .decoded(
                    ClaimedImage(
                        description: DecodedDescription(size: PixelSize(width: 0, height: 0), bands: 0), pixelCount: 0,
                        delayCount: 0, profileCount: 0))
            case .encoded: .encoded(byteCount: 0)
            case .failed: .failed("")
            case .outOfMemory: .outOfMemory
            case .attempted: .attempted(0)
            case .supervised: .supervised
            case .prepared: .prepared
            case .copied: .copied(0)
            case .unreliable: .unreliable("")
            case .faces: .faces([])
            }
        }
    }

    private var kind: Kind {
        switch self {
        case .ready: .ready
        case .notStarted: .notStarted
        case .decoded: .decoded
        case .encoded: .encoded
        case .failed: .failed
        case .outOfMemory: .outOfMemory
        case .attempted: .attempted
        case .supervised: .supervised
        case .prepared: .prepared
        case .copied: .copied
        case .unreliable: .unreliable
        case .faces: .faces
        }
    }

    package var message: [UInt8] { MessageCoder.message(of: self, kind: kind.rawValue) { $0.response($1) } }

    package init?(_ message: [UInt8]) {
        let read = MessageCoder.read(message, startingFrom: { Kind(rawValue: $0)?.initialResponse }) { $0.response($1) }
        guard let read else { return nil }
        self = read
    }
}

extension MessageCoder {
    fileprivate mutating func response(_ response: WorkerResponse) -> WorkerResponse {
        switch response {
        case .ready(let protections): .ready(self.protections(protections))
        case .notStarted(let text): .notStarted(self.text(text))
        case .decoded(let image):
            .decoded(
                WorkerResponse.ClaimedImage(
                    description: description(image.description), pixelCount: byteCount(image.pixelCount),
                    delayCount: size(image.delayCount), profileCount: size(image.profileCount),
                    coarser: descriptions(image.coarser)))
        case .encoded(let byteCount): .encoded(byteCount: self.byteCount(byteCount))
        case .faces(let faces): .faces(self.faces(faces))
        case .failed(let text): .failed(self.text(text))
        case .unreliable(let text): .unreliable(self.text(text))
        case .attempted(let error): .attempted(number(error))
        case .copied(let process): .copied(number(process))
        case .outOfMemory, .supervised, .prepared: response
        }
    }

    private mutating func descriptions(_ values: [DecodedDescription]) -> [DecodedDescription] {
        let count = index(values.count, below: 4)
        let empty = DecodedDescription(size: PixelSize(width: 0, height: 0), bands: 0)
        return (0..<count).map { description($0 < values.count ? values[$0] : empty) }
    }

    private mutating func faces(_ faces: [Face]) -> [Face] {
        let count = index(faces.count, below: Face.maximumCount + 1)
        return (0..<count).map { index in
            let face =
                index < faces.count
                ? faces[index] : Face(x: 0, y: 0, width: Face.whole, height: Face.whole, confidence: 0)
            let read = Face(
                x: word(face.x), y: word(face.y), width: word(face.width), height: word(face.height),
                confidence: word(face.confidence))
            require(read.isPlausible)
            return read
        }
    }

    private mutating func protections(_ value: Protections) -> Protections {
        Protections(
            hasNoNewPrivileges: flag(value.hasNoNewPrivileges), hasSystemCallFilter: flag(value.hasSystemCallFilter),
            isSupervised: flag(value.isSupervised), hasLimits: flag(value.hasLimits),
            landlockVersion: byte(value.landlockVersion))
    }

    private mutating func byteCount(_ value: Int) -> Int {
        let count = long(value)
        require(count < 1 << 48)
        return count
    }
}
