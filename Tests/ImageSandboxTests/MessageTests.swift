import Imaging
import Recipes
import Testing

@testable import ImageSandbox

struct MessageTests {
    static let answers: [WorkerResponse] = [
        .ready(.none),
        .ready(
            Protections(
                hasNoNewPrivileges: true, hasSystemCallFilter: false, isSupervised: true, hasLimits: true,
                landlockVersion: 7)),
        .supervised, .notStarted("arguments"), .failed(""), .unreliable("fonts"), .attempted(13),
        .encoded(byteCount: 1 << 33), .outOfMemory,
        .prepared, .copied(4_194_303), .copied(-1), .faces([]),
        .faces([Face(x: 9_999, y: 0, width: 1, height: 10_000, confidence: 7_321)]),
        .faces((0..<32).map { Face(x: $0, y: 2 * $0, width: 900, height: 800, confidence: 300 * $0) }),
        .decoded(
            WorkerResponse.ClaimedImage(
                description: DecodedDescription(size: PixelSize(width: 70_000, height: 2), bands: 4, loop: 5),
                pixelCount: 1 << 40, delayCount: 3, profileCount: 500)),
        .decoded(WorkerResponse.ClaimedImage(description: planes, pixelCount: 2_752, delayCount: 0, profileCount: 0)),
        .decoded(
            WorkerResponse.ClaimedImage(
                description: planes, pixelCount: 9_000, delayCount: 0, profileCount: 0,
                coarser: [planes, planes, planes])),
    ]

    private static var fromJPEG: EncoderSettings {
        var settings = EncoderSettings(quality: 80, effort: 5)
        settings.visualQuality = 80
        return settings
    }

    static let planes = DecodedDescription(
        size: PixelSize(width: 33, height: 21), bands: 3,
        planes: [
            part(33, 21, 0, 0, 32.5, 20.125), part(17, 11, 0.5, 0.25, 16.25, 10.5),
            part(17, 11, 0.5, 0.25, 16.25, 10.5),
        ], range: .limited, hasColorDetail: true)

    @Test func `no number anywhere in a response crashes the process`() {
        let headers = [
            ImageHeader(format: .jpeg, storedSize: PixelSize(width: 33, height: 21)),
            ImageHeader(format: .gif, storedSize: PixelSize(width: 70_000, height: 2), frames: 3),
        ]
        var (read, believed) = (0, 0)
        for message in Self.answers.map(\.message) {
            for place in 0..<120 {
                for number in [UInt64.min, 1, 255, 1 << 31, 1 << 32 - 1, 1 << 47, 1 << 62, 1 << 63, .max] {
                    var forged = message
                    for shift in 0..<8 { forged[place + shift] = UInt8(truncatingIfNeeded: number >> (shift * 8)) }
                    guard case .decoded(let claim)? = WorkerResponse(forged) else { continue }
                    read += 1
                    for (header, level) in zip(headers + headers, [1, 1, 8, 2]) {
                        let plan = DecodePlan(level: level, isAnimated: header.frames > 1)
                        let isSound = (try? claim.description.pixelByteCount(of: header, by: plan)) == claim.pixelCount
                        believed += isSound && claim.tailCount >= 0 ? 1 : 0
                    }
                }
            }
        }
        #expect(read > 1_000 && believed < read, "hardly any forgery is read, or all are believed")
    }

    @Test(arguments: answers)
    func `a response reads back as written`(answer: WorkerResponse) {
        #expect(answer.message.count == WorkerResponse.byteCount)
        #expect(WorkerResponse(answer.message) == answer)
        #expect(WorkerResponse(answer.message.dropLast()) == nil)
        #expect(WorkerResponse(answer.message + [0]) == nil)
    }

    @Test(arguments: [
        WorkerRequest.perform(
            .decode(DecodePlan(page: 7, level: 8)), byteCount: 1 << 33, maximumResultBytes: 1 << 34, newMemories: []),
        .perform(
            .decode(DecodePlan(drawnSize: PixelSize(width: 30_000, height: 2))), byteCount: 9, maximumResultBytes: 9,
            newMemories: []),
        .perform(
            .decode(
                DecodePlan(
                    drawnSize: PixelSize(width: 30, height: 20),
                    drawnRegion: DrawnRegion(
                        of: ImageRegion(
                            x: 3, y: 4, size: PixelSize(width: 5, height: 6), of: PixelSize(width: 1 << 23, height: 10)),
                        scaledTo: PixelSize(width: 1 << 22, height: 9), x: 7, y: 8))), byteCount: 9,
            maximumResultBytes: 9, newMemories: []),
        .perform(
            .decode(DecodePlan(isAnimated: true, maximumFrames: 256, incompleteImages: .serve)), byteCount: 1,
            maximumResultBytes: 0, newMemories: []),
        .perform(
            .decode(DecodePlan(level: 2).with(coarserLevels: [4, 8])), byteCount: 1, maximumResultBytes: 9,
            newMemories: []),
        .perform(
            .decode(DecodePlan(isAnimated: true)), byteCount: 1, maximumResultBytes: 0,
            newMemories: [.input, .output, .largeOutput]),
        .perform(
            .encode(planes, as: .avif, settings: EncoderSettings(quality: 100, effort: 1)), byteCount: 2_752,
            maximumResultBytes: 1, newMemories: .largeInput),
        .perform(
            .encode(planes, as: .gif, settings: EncoderSettings(quality: 100, effort: 1)), byteCount: 2_752,
            maximumResultBytes: 1, newMemories: .largeInput),
        .perform(
            .encode(
                DecodedDescription(size: PixelSize(width: 30, height: 20), bands: 4, loop: 3), as: .avif,
                settings: EncoderSettings(quality: 1, effort: 9, bitDepth: 10), delays: 256), byteCount: 2_752,
            maximumResultBytes: 1,
            newMemories: []),
        .perform(
            .encode(planes, as: .jxl, settings: fromJPEG), byteCount: 2_752, maximumResultBytes: 1, newMemories: []),
        .attempt(.openSocket), .releaseMemory,
    ])
    func `a request reads back as written`(request: WorkerRequest) {
        #expect(request.message.count == WorkerRequest.byteCount)
        #expect(WorkerRequest(request.message) == request)
        #expect(WorkerRequest(request.message.dropLast()) == nil)
    }

    @Test func `the decoder of a JPEG reads back as written`() {
        let reasons: [JPEGDecoding?] = JPEGDecoding.Reason.allCases.map { .fallback($0) }
        for decoding in reasons + [.fast, nil] {
            var description = Self.planes
            description.jpegDecoding = decoding
            let answer = WorkerResponse.decoded(
                WorkerResponse.ClaimedImage(description: description, pixelCount: 2_752, delayCount: 0, profileCount: 0)
            )
            #expect(WorkerResponse(answer.message) == answer)
        }
    }

    @Test func `bytes that are not a message are rejected`() {
        #expect(WorkerResponse([UInt8](repeating: 0, count: WorkerResponse.byteCount)) == nil)
        #expect(WorkerResponse([UInt8](repeating: 255, count: WorkerResponse.byteCount)) == nil)
        #expect(WorkerRequest([UInt8](repeating: 0, count: WorkerRequest.byteCount)) == nil)
        var level3 = WorkerRequest.perform(
            .decode(DecodePlan(level: 4)), byteCount: 1, maximumResultBytes: 1, newMemories: .output
        ).message
        #expect(level3[22] == 4)
        level3[22] = 3
        #expect(WorkerRequest(level3) == nil)
        var best = WorkerRequest.perform(
            .encode(Self.planes, as: .avif, settings: EncoderSettings(quality: 100, effort: 1)), byteCount: 1,
            maximumResultBytes: 1, newMemories: .output
        )
        .message
        let still = WorkerRequest.perform(
            .encode(Self.planes, as: .gif, settings: EncoderSettings(quality: 100, effort: 1), delays: 2), byteCount: 1,
            maximumResultBytes: 1, newMemories: .output)
        #expect(WorkerRequest(still.message) == nil, "GIF is animated elsewhere")
        #expect(best[19] == 100)
        best[19] = 101
        #expect(WorkerRequest(best) == nil)
    }

    @Test(arguments: ImageFormat.allCases)
    func `a worker encodes only formats that need a worker`(format: ImageFormat) {
        let request = WorkerRequest.perform(
            .encode(Self.planes, as: format, settings: EncoderSettings(quality: 50, effort: 1)), byteCount: 1,
            maximumResultBytes: 1, newMemories: .output)
        #expect(WorkerRequest(request.message) == (format.isEncodedByWorker ? request : nil))
        var unknown = request.message
        #expect(unknown[19] == 50)
        unknown[18] = UInt8(ImageFormat.allCases.count)
        #expect(WorkerRequest(unknown) == nil)
    }

    @Test func `a worker's text cannot forge log lines`() {
        let text = "a\nb\u{1B}[2Jc\u{0}é"
        #expect(WorkerResponse(WorkerResponse.failed(text).message) == .failed("a?b?[2Jc???"))
        let long = String(repeating: "x", count: 1_000)
        #expect(WorkerResponse(WorkerResponse.failed(long).message) == .failed(String(repeating: "x", count: 200)))
    }

    private static func part(
        _ width: Int, _ height: Int, _ left: Double, _ top: Double, _ across: Double, _ down: Double
    ) -> DecodedDescription.PlaneShape {
        DecodedDescription.PlaneShape(
            size: PixelSize(width: width, height: height),
            region: Plane.Region(left: left, top: top, width: across, height: down))
    }
}
