import CLinux
import Coordination
import Glibc
import Imaging
import Memory
import TestSupport
import Testing

@testable import DecodeSandbox

/// A worker that a test plays: a process that does nothing, and a thread that answers for it.
private final class PlayedWorker {
    let process: WorkerProcess
    private let thread = WorkerPool(count: 1, maximumQueued: 1, name: "played")

    /// A worker that answers its first request with what `answer` makes; it is lent the pixels' memory, or that of a large file.
    init(_ answer: @escaping @Sendable (_ pixels: CInt) -> [UInt8]?) throws {
        let (ours, theirs) = try MessageSocket.pair()
        // The process gets an end that nobody listens to: the thread's own is to close with the thread.
        let (_, other) = try MessageSocket.pair()
        let arguments = unsafe [strdup("sleep"), strdup("1000"), nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        let none: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        var id: pid_t = 0
        let error = unsafe CLinux_spawn_worker("/bin/sleep", arguments, none, other.descriptor, &id)
        precondition(error == 0, "sleep cannot be started")
        process = WorkerProcess(id: id, socket: ours)
        _ = thread.submit { _ in
            guard let (_, descriptors) = theirs.nextMessage(count: WorkerRequest.byteCount) else { return }
            defer { for descriptor in descriptors { close(descriptor) } }
            // For much room, or a large file, there is one of its own.
            guard descriptors.count >= 2, let pixels = descriptors.last, let message = answer(pixels) else { return }
            _ = theirs.write(message)
        }
    }

    deinit {
        _ = process.end()
        thread.shutDown()
    }

    /// What the server makes of the answer to a request for a small photograph.
    func outcome(
        of file: SharedBytes = ImageFixture.jpeg.bytes, token: WorkToken = WorkToken()
    ) throws -> WorkerProcess.Outcome<DecodedImage> {
        let header = try ImageHeader.inspect(file)
        let room = header.mostPixelBytes(of: DecodePlan())
        return try process.perform(.decode(DecodePlan()), on: file, room: room, token: token) { answer, output in
            guard case .decoded(let picture) = answer else { throw ImagingError.notAnImage }
            return try picture.image(in: &output, of: header, by: DecodePlan())
        }
    }

    /// What the server makes of the answer to a request to write a grey picture of 64×48 pixels.
    func encodingOutcome() throws -> WorkerProcess.Outcome<SharedBytes> {
        let picture = DecodedImage(
            pixels: SharedBytes([UInt8](repeating: 7, count: 64 * 48)), size: ImageFixture.size, bands: 1)
        let work = WorkerRequest.Work.encode(DecodedDescription(picture), as: .avif, quality: 50)
        let room = WorkerAnswer.mostFileBytes(of: picture.size)
        return try process.perform(work, on: picture.pixels, room: room, token: WorkToken()) { answer, output in
            guard case .encoded(let count) = answer else { throw ImagingError.notAnImage }
            return try WorkerAnswer.file(byteCount: count, in: &output, format: .avif, size: picture.size)
        }
    }
}

@Suite(.timeLimit(.minutes(2)))
struct LyingWorkerTests {
    /// An honest answer about 64×48 pixels, which `lie` may change.
    private static func answer(
        _ lie: @escaping @Sendable (inout WorkerAnswer.Picture) -> Void = { _ in }
    ) -> @Sendable (CInt) -> [UInt8]? {
        { _ in
            var picture = WorkerAnswer.Picture(
                description: DecodedDescription(size: ImageFixture.size, bands: 3), pixelCount: 64 * 48 * 3,
                delayCount: 0, profileCount: 0)
            lie(&picture)
            return WorkerAnswer.decoded(picture).message
        }
    }

    /// Planes as libjpeg makes them of the picture, which `lie` may change.
    private static func planes(
        _ lie: @escaping @Sendable (inout [DecodedDescription.Part]) -> Void
    ) -> @Sendable (CInt) -> [UInt8]? {
        answer { picture in
            picture.pixelCount = 64 * 48 + 2 * 64 * 24
            picture.description.planes = [
                DecodedDescription.Part(size: ImageFixture.size, left: 0, top: 0, width: 64, height: 48)
            ]
            picture.description.planes += [0, 1].map { _ in
                DecodedDescription.Part(
                    size: PixelSize(width: 32, height: 24), left: 0, top: 0, width: 32, height: 24)
            }
            lie(&picture.description.planes)
        }
    }

    @Test func `the truth is believed`() throws {
        for answer in [Self.answer(), Self.planes { _ in }] {
            guard case .done(let image) = try PlayedWorker(answer).outcome() else {
                Issue.record("an honest answer was not believed")
                continue
            }
            #expect(image.size == ImageFixture.size)
        }
    }

    private static let lies: [String: @Sendable (CInt) -> [UInt8]?] = [
        "none": answer { $0.pixelCount = 0 },
        "another size": answer { $0.description.size = PixelSize(width: 48, height: 64) },
        "a huge size": answer { $0.description.size = PixelSize(width: 1 << 31, height: 1 << 31) },
        "another number of bands": answer { $0.description.bands = 4 },
        "no bands": answer { $0.description.bands = 0 },
        "delays of a still": answer { $0.delayCount = 1 },
        "many delays": answer { $0.delayCount = 1 << 30 },
        "a profile that is none": answer { $0.profileCount = 200 },
        "missing pixels that nobody asked for": answer { $0.description.isIncomplete = true },
        "no answer of this kind": { _ in WorkerAnswer.ready(.none).message },
        "no message": { _ in [UInt8](repeating: 7, count: WorkerAnswer.byteCount) },
        "a short message": { _ in [1] },
        "a long message": { _ in [UInt8](repeating: 3, count: 2 * WorkerAnswer.byteCount) },
        "two planes": planes { $0.removeLast() },
        "luma of another size": planes { $0[0].size.width = 63 },
        "chroma larger than luma": planes { $0[1].size = PixelSize(width: 128, height: 12) },
        "a picture outside its plane": planes { $0[1].left = 1 },
        "a picture that is no number": planes { $0[2].width = .nan },
        "an endless picture": planes { $0[2].height = .infinity },
        "a picture of nothing": planes { $0[0].height = 0 },
    ]

    @Test(arguments: lies.keys.sorted())
    func `a lie is seen`(lie: String) throws {
        let answer = try #require(Self.lies[lie])
        guard case .breach = try PlayedWorker(answer).outcome() else {
            Issue.record("\(lie) was believed")
            return
        }
    }

    @Test func `a worker cannot cut off what the server reads where it lies`() throws {
        let outcome = try PlayedWorker { pixels in
            let byte: [UInt8] = [200]
            guard ftruncate(pixels, 0) != 0, errno == EPERM, unsafe pwrite(pixels, byte, 1, 0) == 1 else { return nil }
            return Self.answer()(pixels)
        }.outcome()
        guard case .done(let image) = outcome else {
            Issue.record("the memory became shorter")
            return
        }
        #expect(image.pixels.array.first == 200)
    }

    @Test func `a worker that hangs up is lost`() throws {
        guard case .lost = try PlayedWorker({ _ in nil }).outcome() else {
            Issue.record("nobody answered")
            return
        }
    }

    @Test func `who is not waited for any more is let go`() throws {
        let token = WorkToken()
        let gate = Locked(false)
        let worker = try PlayedWorker { _ in
            // Asked, and nobody waits any more; the answer comes when the outcome is known.
            token.cancel()
            while !gate.withLock({ $0 }) { sched_yield() }
            return nil
        }
        defer { gate.withLock { $0 = true } }
        guard case .interrupted(wasBusy: false) = try worker.outcome(token: token) else {
            Issue.record("the wait went on, or an idle process was busy")
            return
        }
    }

    /// A picture of more bytes than are copied.
    private static let side = 1_280

    /// An honest answer about such a picture.
    private static func manyPixels(more: Int = 0) -> [UInt8] {
        WorkerAnswer.decoded(
            WorkerAnswer.Picture(
                description: DecodedDescription(size: PixelSize(width: side, height: side), bands: 3),
                pixelCount: side * side * 3 + more, delayCount: 0, profileCount: 0)
        ).message
    }

    private func outcomeOfManyPixels(_ worker: PlayedWorker) throws -> WorkerProcess.Outcome<DecodedImage> {
        try worker.outcome(of: ImageFixture.photo(width: Self.side, height: Self.side, format: .png))
    }

    @Test func `pixels of many bytes are not copied, and nobody can change them`() throws {
        let copy = Locked<CInt>(-1)
        let worker = try PlayedWorker { pixels in
            copy.withLock { $0 = dup(pixels) }
            return Self.manyPixels()
        }
        guard case .done(let image) = try outcomeOfManyPixels(worker) else {
            Issue.record("an honest answer was not believed")
            return
        }
        #expect(image.pixels.count == Self.side * Self.side * 3)
        let kept = copy.withLock { $0 }
        let byte: [UInt8] = [1]
        #expect(unsafe pwrite(kept, byte, 1, 0) < 0 && errno == EPERM)
        close(kept)
    }

    @Test func `many pixels that can still be written to are none`() throws {
        let mapping = Locked<UInt>(0)
        let worker = try PlayedWorker { pixels in
            let message = Self.manyPixels()
            let base = unsafe mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, pixels, 0)
            mapping.withLock { $0 = UInt(bitPattern: base) }
            return message
        }
        guard case .breach = try outcomeOfManyPixels(worker) else {
            Issue.record("somebody could change the pixels")
            return
        }
        unsafe munmap(UnsafeMutableRawPointer(bitPattern: mapping.withLock { $0 }), 4_096)
    }

    @Test(arguments: [-1, 1])
    func `many pixels in more or less memory are none`(more: Int) throws {
        guard case .breach = try outcomeOfManyPixels(PlayedWorker { _ in Self.manyPixels(more: more) }) else {
            Issue.record("the memory was of another size")
            return
        }
    }

    @Test func `memory that is handed over grows no more than it shrinks`() throws {
        let errors = Locked<[CInt]>([])
        for isLarge in [false, true] {
            let worker = try PlayedWorker { memory in
                var status = stat()
                _ = unsafe fstat(memory, &status)
                let byte: [UInt8] = [1]
                for grow in [
                    { ftruncate(memory, status.st_size + 1) },
                    { CInt(clamping: unsafe pwrite(memory, byte, 1, status.st_size)) },
                    { ftruncate(memory, 0) },
                ] {
                    let result = grow()
                    errors.withLock { $0.append(result < 0 ? errno : 0) }
                }
                return nil
            }
            _ = isLarge ? try outcomeOfManyPixels(worker) : try worker.outcome()
        }
        #expect(errors.withLock { $0 } == [CInt](repeating: EPERM, count: 6))
    }

    @Test func `a file is handed over in memory that nobody can change, nor make larger`() throws {
        let errors = Locked<[CInt]>([])
        let file = ImageTrap.jpegProfile.bytes
        try #require(file.count > KeptMemory.count)
        let worker = try PlayedWorker { memory in
            let byte: [UInt8] = [1]
            for change in [
                { ftruncate(memory, file.count + 1) }, { CInt(clamping: unsafe pwrite(memory, byte, 1, 0)) },
            ] {
                let result = change()
                errors.withLock { $0.append(result < 0 ? errno : 0) }
            }
            return nil
        }
        let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 8, height: 8))
        _ = try worker.process.perform(.decode(DecodePlan()), on: file, room: 1, token: WorkToken()) { _, _ in header }
        #expect(errors.withLock { $0 } == [EPERM, EPERM])
    }

    @Test func `a size that the head rules out is never mapped`() throws {
        // A worker that fills all the room that a dear head has it lent, and says that the picture is as large.
        let size = PixelSize(width: 4 * Self.side, height: 4 * Self.side)
        let description = DecodedDescription(size: size, bands: 4)
        let picture = WorkerAnswer.Picture(
            description: description, pixelCount: size.area * 4, delayCount: 0, profileCount: 0)
        let header = ImageHeader(format: .png, storedSize: ImageFixture.size)
        let kept = try KeptMemory("test", isWritable: false)
        var output = try OutputMemory(kept, room: size.area * 4)
        #expect(throws: ImagingError.self) { try picture.image(in: &output, of: header, by: DecodePlan()) }
        // Nobody has sealed it: it was not even looked at.
        let descriptor = output.largeDescriptor ?? -1
        let byte: [UInt8] = [1]
        #expect(unsafe pwrite(descriptor, byte, 1, 0) == 1)
    }

    @Test func `memory that holds more than was said is not kept`() throws {
        let worker = try PlayedWorker { memory in
            var status = stat()
            _ = unsafe fstat(memory, &status)
            // All of it, which is for four bands of which the picture has one.
            return posix_fallocate(memory, 0, status.st_size) == 0 ? Self.manyGreyPixels : nil
        }
        let outcome = try worker.outcome(of: ImageFixture.photo(width: 2 * Self.side, height: Self.side, format: .png))
        guard case .breach = outcome else {
            Issue.record("much more was kept than anybody knows of: \(outcome)")
            return
        }
    }

    private static let manyGreyPixels = WorkerAnswer.decoded(
        WorkerAnswer.Picture(
            description: DecodedDescription(size: PixelSize(width: 2 * side, height: side), bands: 2),
            pixelCount: 2 * side * side * 2, delayCount: 0, profileCount: 0)
    ).message

    @Test func `a worker that speaks or works unasked is seen`() throws {
        let (ours, theirs) = try MessageSocket.pair()
        let process = WorkerProcess(id: getpid(), socket: ours)
        #expect(process.unrest == nil)
        // This process is busy on its own account.
        let end = process.processorTime + .milliseconds(1_100)
        while process.processorTime < end {}
        #expect(process.isBusyForNobody && process.unrest == .breach("it is busy with nothing to do"))
        process.rest()
        #expect(process.unrest == nil)
        _ = theirs.write([1])
        #expect(process.unrest == .breach("it spoke unasked"))
    }

    @Test func `few pixels stay as they are whatever the worker writes later`() throws {
        let copy = Locked<CInt>(-1)
        let worker = try PlayedWorker { pixels in
            copy.withLock { $0 = dup(pixels) }
            return Self.answer()(pixels)
        }
        guard case .done(let image) = try worker.outcome() else {
            Issue.record("an honest answer was not believed")
            return
        }
        let kept = copy.withLock { $0 }
        let byte: [UInt8] = [1]
        #expect(unsafe pwrite(kept, byte, 1, 0) == 1)
        #expect(image.pixels.array.allSatisfy { $0 == 0 })
        close(kept)
    }

    /// Leaves `bytes` in the memory, and says that they are a file of `count` bytes.
    private static func leaving(_ bytes: [UInt8], count: Int) -> @Sendable (CInt) -> [UInt8]? {
        { output in
            guard unsafe pwrite(output, bytes, bytes.count, 0) == bytes.count else { return nil }
            return WorkerAnswer.encoded(byteCount: count).message
        }
    }

    @Test func `only an AVIF file of the picture's size is one`() throws {
        let file = ImageFixture.avif.bytes.array
        let whole = try PlayedWorker(Self.leaving(file, count: file.count)).encodingOutcome()
        guard case .done(let avif) = whole else {
            Issue.record("an honest answer was not believed")
            return
        }
        #expect(avif.array == file)
        try ImageLibrary.start()
        let pixels = [UInt8](repeating: 7, count: 65 * 48)
        let size = PixelSize(width: 65, height: 48)
        let other = try ImageEncoder.encode(pixels: pixels, size: size, bands: 1, format: .avif, quality: 50).bytes
            .array
        let jpeg = ImageFixture.jpeg.bytes.array
        for (lie, count) in [(jpeg, jpeg.count), (other, other.count), (file, 0), (file, 40), (file, 1 << 40)] {
            guard case .breach = try PlayedWorker(Self.leaving(lie, count: count)).encodingOutcome() else {
                Issue.record("\(count) bytes were believed")
                continue
            }
        }
        guard case .breach = try PlayedWorker(Self.answer()).encodingOutcome() else {
            Issue.record("pixels were taken for a file")
            return
        }
        guard case .breach = try PlayedWorker(Self.leaving(file, count: file.count)).outcome() else {
            Issue.record("a file was taken for pixels")
            return
        }
    }
}
