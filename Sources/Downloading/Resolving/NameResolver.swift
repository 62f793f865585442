import CCares
import CCurlShim
import Coordination
import Glibc
import HTTPTypes
import Text

/// Resolves names with c-ares without blocking; one lookup serves all callers of a name.
///
/// Used only on the `transfers` thread. c-ares calls back inside ``lookUp(_:)``, ``process(_:isReadable:isWritable:)``
/// and `deinit`.
@safe
final class NameResolver {
    typealias Resolution = Result<[IPAddress], DownloadError>

    private static let longestLifetime = 60
    private static let isInitialized = ares_library_init(CInt(ARES_LIB_INIT_ALL)) == 0

    private let channel: OpaquePointer
    private let record: ResolverRecord
    private var pending: Set<ExactText> = []
    private var cache = BoundedMap<ExactText, [IPAddress]>(maximumCount: 4_096)

    /// - Parameter servers: `ADDRESS:PORT`, separated by commas; nil uses the system's.
    init?(servers: String?) {
        let record = ResolverRecord()
        guard Self.isInitialized, let channel = unsafe makeChannel(record) else { return nil }
        if let servers, unsafe ares_set_servers_ports_csv(channel, servers) != 0 {
            unsafe ares_destroy(channel)
            return nil
        }
        unsafe self.channel = channel
        self.record = record
    }

    deinit { unsafe ares_destroy(channel) }

    var sockets: [ResolverRecord.Socket] { record.sockets }

    /// Returns cached addresses; entries live for the record's TTL, at most a minute.
    func cached(_ name: String, at now: Duration) -> [IPAddress]? { cache.peek(ExactText(name), at: now) }

    /// Starts a lookup; ``takeFinished(at:)`` returns its result.
    func lookUp(_ name: String) {
        guard pending.insert(ExactText(name)).inserted else { return }
        unsafe beginLookUp(channel, of: name, record: record)
    }

    func process(_ socket: CInt = -1, isReadable: Bool = false, isWritable: Bool = false) {
        unsafe ares_process_fd(channel, isReadable ? socket : -1, isWritable ? socket : -1)
    }

    /// The time until c-ares must check its timeouts; nil if there are no lookups.
    var timeLeft: Duration? {
        var limit = timeval()
        guard !pending.isEmpty, unsafe ares_timeout(channel, nil, &limit) != nil else { return nil }
        return .seconds(limit.tv_sec) + .microseconds(limit.tv_usec)
    }

    func takeFinished(at now: Duration) -> [(name: String, resolution: Resolution)] {
        guard !record.finished.isEmpty else { return [] }
        let finished = record.finished
        record.finished = []
        return finished.map { lookup in
            pending.remove(ExactText(lookup.name))
            guard lookup.status == 0, !lookup.addresses.isEmpty else {
                return (lookup.name, .failure(DownloadError(nameStatus: lookup.status, of: lookup.name)))
            }
            let lifetime = max(0, min(lookup.secondsToLive, Self.longestLifetime))
            cache.insert(lookup.addresses, for: ExactText(lookup.name), until: now + .seconds(lifetime))
            return (lookup.name, .success(lookup.addresses))
        }
    }
}

final class ResolverRecord {
    struct Socket {
        let descriptor: CInt
        let isReadable: Bool
        let isWritable: Bool
    }

    struct Finished {
        let name: String
        let status: CInt
        let addresses: [IPAddress]
        let secondsToLive: Int
    }

    fileprivate(set) var sockets: [Socket] = []
    fileprivate(set) var finished: [Finished] = []
}

extension DownloadError {
    fileprivate init(nameStatus status: CInt, of name: String) {
        let text = "names: \(name): " + (unsafe String(cString: ares_strerror(status)))
        self =
            switch status {
            // Treat success without an address like the errors for a missing address.
            case 0, CCurlShim_no_data, CCurlShim_not_found, CCurlShim_bad_name: .noAddress(text)
            case CCurlShim_name_timeout: .timedOut
            case CCurlShim_no_memory: .internal(text)
            default: .unreachable(text)
            }
    }
}

private final class NameQuery {
    let name: String
    let record: ResolverRecord

    init(name: String, record: ResolverRecord) {
        self.name = name
        self.record = record
    }
}

@unsafe
private func makeChannel(_ record: ResolverRecord) -> OpaquePointer? {
    var options = unsafe ares_options()
    unsafe options.flags = CInt(ARES_FLAG_NOSEARCH)
    unsafe options.timeout = 1000
    unsafe options.tries = 3
    unsafe options.sock_state_cb = { context, descriptor, isReadable, isWritable in
        guard let context = unsafe context else { return }
        let record = unsafe Unmanaged<ResolverRecord>.fromOpaque(context).takeUnretainedValue()
        record.sockets.removeAll { $0.descriptor == descriptor }
        guard isReadable != 0 || isWritable != 0 else { return }
        record.sockets.append(
            ResolverRecord.Socket(descriptor: descriptor, isReadable: isReadable != 0, isWritable: isWritable != 0))
    }
    // Unretained: the resolver keeps the record as long as the channel.
    unsafe options.sock_state_cb_data = Unmanaged.passUnretained(record).toOpaque()
    let mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | CInt(CCares_cache_option)
    var channel: OpaquePointer?
    guard unsafe ares_init_options(&channel, &options, CInt(mask)) == 0 else { return nil }
    return unsafe channel
}

@unsafe
private func beginLookUp(_ channel: OpaquePointer, of name: String, record: ResolverRecord) {
    var hints = ares_addrinfo_hints()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = CCurlShim_stream_socket_type()
    // Sorting would open sockets to addresses that have not been checked.
    hints.ai_flags = CInt(ARES_AI_NOSORT)
    // Released in the callback, which c-ares calls exactly once, at the latest when the channel is destroyed.
    let context = unsafe Unmanaged.passRetained(NameQuery(name: name, record: record)).toOpaque()
    unsafe ares_getaddrinfo(
        channel, name, nil, &hints,
        { context, status, _, result in
            guard let context = unsafe context else { return }
            let lookup = unsafe Unmanaged<NameQuery>.fromOpaque(context).takeRetainedValue()
            defer { if unsafe result != nil { unsafe ares_freeaddrinfo(result) } }
            var addresses: [IPAddress] = []
            var secondsToLive = Int.max
            var node = unsafe result?.pointee.nodes
            while let current = unsafe node {
                if let address = unsafe IPAddress(current.pointee.ai_addr), !addresses.contains(address) {
                    addresses.append(address)
                }
                secondsToLive = unsafe min(secondsToLive, Int(current.pointee.ai_ttl))
                unsafe node = current.pointee.ai_next
            }
            lookup.record.finished.append(
                ResolverRecord.Finished(
                    name: lookup.name, status: status, addresses: addresses, secondsToLive: secondsToLive))
        }, context)
}
