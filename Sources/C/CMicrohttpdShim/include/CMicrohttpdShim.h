#ifndef CMICROHTTPDSHIM_H
#define CMICROHTTPDSHIM_H

// libmicrohttpd as HTTPServing needs it: its variadic functions typed once, and its callbacks with plain types, because its
// enumerations do not arrive in Swift.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct MHD_Connection;
struct MHD_Daemon;
struct MHD_Response;

/// The halves of a client's IPv6 address, or of its IPv4 address in IPv6's form; zero if it is not known.
typedef struct {
    uint64_t high;
    uint64_t low;
} CMicrohttpdShim_address;

/// The functions that the library calls on its event threads. The peer is the object that `opened` returned for the connection.
typedef struct {
    /// Handed to `accepts` and `opened`.
    void *context;
    /// Whether a new connection may stay; false closes it at once.
    bool (*accepts)(void *context, CMicrohttpdShim_address address);
    /// A connection begins; its descriptor stays valid until `closed` returns.
    void *(*opened)(
        void *context, struct MHD_Connection *connection, int descriptor, CMicrohttpdShim_address address);
    /// A connection ends: the last use of the peer.
    void (*closed)(void *peer);
    /// A request line has arrived; the target is overwritten after the call.
    void (*target_received)(void *peer, const char *target, size_t length);
    /// A header has arrived (first call), a part of its body (with `upload`, which is taken), its request is complete, or its
    /// connection was resumed; false closes the connection.
    bool (*handle)(
        void *peer, struct MHD_Connection *connection, const char *method, const char *version, const char *upload,
        size_t upload_size);
    /// The answer is sent, or the request failed.
    void (*completed)(void *peer);
    /// The library is about to refuse a request itself, with this status; on the event thread of the connection.
    void (*refuses)(void *peer, unsigned status);
} CMicrohttpdShim_callbacks;

/// Numbers of a daemon.
typedef struct {
    int listening_descriptor;
    unsigned threads;
    unsigned connections_per_thread;
    unsigned idle_seconds;
    size_t buffer_size;
} CMicrohttpdShim_settings;

/// One header field inside the connection's buffer; no terminator is implied.
typedef struct {
    const char *name;
    size_t name_length;
    const char *value;
    size_t value_length;
} CMicrohttpdShim_field;

/// Starts the event threads on a listening socket; the callbacks must outlive the daemon. Null with errno.
struct MHD_Daemon *CMicrohttpdShim_start(
    const CMicrohttpdShim_callbacks *callbacks, const CMicrohttpdShim_settings *settings);

/// Accepts a connection that waits on a listening socket, in place of the daemon's own threads; false if none waits.
bool CMicrohttpdShim_accept(struct MHD_Daemon *daemon, int listening);

/// Writes up to `capacity` fields of the request and returns how many there are.
size_t CMicrohttpdShim_fields(struct MHD_Connection *connection, CMicrohttpdShim_field *fields, size_t capacity);

/// Keeps the daemon from asking for a body that is not announced; if it asked, it would close the connection when the next
/// request comes. Called in the handler's first call, after the fields were read.
void CMicrohttpdShim_ignore_expectation(struct MHD_Connection *connection);

/// Lets a connection be silent for so many seconds, 0 for any time; on its event thread.
void CMicrohttpdShim_limit_idleness(struct MHD_Connection *connection, unsigned seconds);

/// Bytes from the start of the request line to the end of the empty line.
size_t CMicrohttpdShim_header_size(struct MHD_Connection *connection);

/// A response whose body is copied.
struct MHD_Response *CMicrohttpdShim_response_copying(const void *body, size_t size);

/// A response that lends its body until `release(owner)` is called, once.
struct MHD_Response *CMicrohttpdShim_response_lending(
    const void *body, size_t size, void (*release)(void *owner), void *owner);

/// A response whose body `read(owner, position, buffer, size)` writes piece by piece, until `release(owner)` is called, once. `read`
/// returns the number of bytes, 0 after it has suspended the connection, -1 at the end, -2 to break the connection off.
struct MHD_Response *CMicrohttpdShim_response_reading(
    ssize_t (*read)(void *owner, uint64_t position, char *buffer, size_t size), void (*release)(void *owner), void *owner);

/// Adds a header field, given in UTF-8 without a terminator. It is written in ISO 8859-1, with question marks for characters that
/// are not in it. False for a name or value that may not go on the wire.
bool CMicrohttpdShim_add_field(
    struct MHD_Response *response, const unsigned char *name, size_t name_length, const unsigned char *value,
    size_t value_length);

/// Gives up the caller's reference; a queued response lives until it is sent.
void CMicrohttpdShim_discard(struct MHD_Response *response);

/// Queues a response for the current request; false if it is too late.
bool CMicrohttpdShim_queue(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response);

#endif
