#ifndef CMICROHTTPDSHIM_H
#define CMICROHTTPDSHIM_H

// libmicrohttpd for HTTPServing: typed wrappers of its variadic functions, and callbacks with plain types, because its
// enumerations are not imported into Swift.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct MHD_Connection;
struct MHD_Daemon;
struct MHD_Response;

/// The halves of a client's IPv6 address, or of its IPv4 address in IPv6's form; zero if unknown.
typedef struct {
    uint64_t high;
    uint64_t low;
} CMicrohttpdShim_address;

/// The functions that the library calls on its event threads. The peer is the object that `opened` returned for the
/// connection.
typedef struct {
    /// Passed to `accepts` and `opened`.
    void *context;
    /// Returns whether to keep a new connection; false closes it at once.
    bool (*accepts)(void *context, CMicrohttpdShim_address address);
    /// A connection begins; its descriptor is valid until `closed` returns.
    void *(*opened)(
        void *context, struct MHD_Connection *connection, int descriptor, CMicrohttpdShim_address address);
    /// A connection ends: the last use of the peer.
    void (*closed)(void *peer);
    /// A request line has arrived; the target is overwritten after the call.
    void (*target_received)(void *peer, const char *target, size_t length);
    /// A header has arrived (first call), a part of its body (with `upload`, which is consumed), its request is
    /// complete, or its connection was resumed; false closes the connection.
    bool (*handle)(
        void *peer, struct MHD_Connection *connection, const char *method, const char *version, const char *upload,
        size_t upload_size);
    /// The response was sent, or the request failed.
    void (*completed)(void *peer);
    /// The library is about to reject a request itself, with this status; on the event thread of the connection.
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

/// Accepts a pending connection on a listening socket instead of the daemon's own threads; returns false if there is
/// none.
bool CMicrohttpdShim_accept(struct MHD_Daemon *daemon, int listening);

/// Writes up to `capacity` fields of the request and returns their total number.
size_t CMicrohttpdShim_fields(struct MHD_Connection *connection, CMicrohttpdShim_field *fields, size_t capacity);

/// Keeps the daemon from requesting a body that is not announced, because it would then close the connection at the
/// next request. Must be called in the handler's first call, after the fields were read.
void CMicrohttpdShim_ignore_expectation(struct MHD_Connection *connection);

/// Sets the idle timeout of a connection in seconds, 0 for none; on its event thread.
void CMicrohttpdShim_limit_idleness(struct MHD_Connection *connection, unsigned seconds);

/// Returns the bytes from the start of the request line to the end of the empty line.
size_t CMicrohttpdShim_header_size(struct MHD_Connection *connection);

/// Creates a response whose body is copied.
struct MHD_Response *CMicrohttpdShim_response_copying(const void *body, size_t size);

/// Creates a response that uses its body until `release(owner)` is called, once.
struct MHD_Response *CMicrohttpdShim_response_lending(
    const void *body, size_t size, void (*release)(void *owner), void *owner);

/// Creates a response whose body `read(owner, position, buffer, size)` writes piece by piece, until `release(owner)` is
/// called, once. `read` returns the number of bytes, 0 after it has suspended the connection, -1 at the end, -2 to
/// abort the connection.
struct MHD_Response *CMicrohttpdShim_response_reading(
    ssize_t (*read)(void *owner, uint64_t position, char *buffer, size_t size), void (*release)(void *owner), void *owner);

/// Adds a header field in UTF-8 without a terminator. It is sent in ISO 8859-1, with question marks for other
/// characters. Returns false for a name or value that must not be sent.
bool CMicrohttpdShim_add_field(
    struct MHD_Response *response, const unsigned char *name, size_t name_length, const unsigned char *value,
    size_t value_length);

/// Releases the caller's reference; a queued response lives until it is sent.
void CMicrohttpdShim_discard(struct MHD_Response *response);

/// Queues a response for the current request; returns false if it is too late.
bool CMicrohttpdShim_queue(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response);

#endif
