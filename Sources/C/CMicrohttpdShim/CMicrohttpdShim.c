// For accept4 and RTLD_NEXT.
#define _GNU_SOURCE
#include "CMicrohttpdShim.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// The halves of an IPv6 address; an IPv4 address has IPv6's form (RFC 4291 section 2.5.5.2). Zero if there is none.
static CMicrohttpdShim_address address_of(const struct sockaddr *address)
{
    CMicrohttpdShim_address halves = {0, 0};
    if (!address) return halves;
    if (address->sa_family == AF_INET) {
        struct sockaddr_in internet;
        memcpy(&internet, address, sizeof internet);
        halves.low = UINT64_C(0xffff) << 32 | ntohl(internet.sin_addr.s_addr);
        return halves;
    }
    if (address->sa_family != AF_INET6) return halves;
    struct sockaddr_in6 internet;
    memcpy(&internet, address, sizeof internet);
    const unsigned char *bytes = internet.sin6_addr.s6_addr;
    for (unsigned i = 0; i < 8; i++) halves.high = halves.high << 8 | bytes[i];
    for (unsigned i = 8; i < 16; i++) halves.low = halves.low << 8 | bytes[i];
    return halves;
}

static enum MHD_Result accept_connection(void *context, const struct sockaddr *address, socklen_t length)
{
    const CMicrohttpdShim_callbacks *callbacks = context;
    (void) length;
    return callbacks->accepts(callbacks->context, address_of(address)) ? MHD_YES : MHD_NO;
}

static void notify_connection(
    void *context, struct MHD_Connection *connection, void **peer, enum MHD_ConnectionNotificationCode code)
{
    const CMicrohttpdShim_callbacks *callbacks = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        callbacks->closed(*peer);
        *peer = NULL;
        return;
    }
    // The result is valid until the next call.
    int descriptor = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const union MHD_ConnectionInfo *client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    CMicrohttpdShim_address address = address_of(client ? client->client_addr : NULL);
    *peer = callbacks->opened(callbacks->context, connection, descriptor, address);
}

static void *log_target(void *context, const char *target, struct MHD_Connection *connection)
{
    const CMicrohttpdShim_callbacks *callbacks = context;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    void *peer = info->socket_context;
    if (!target) target = "";
    size_t length = strlen(target);
    callbacks->target_received(peer, target, length);
    if (length > 0) {
        // Next, the library would split its buffer at the question mark and decode arguments, which are not used. With
        // an empty buffer, that takes no time, and no record in the connection's pool for each of thousands of
        // ampersands.
        char *path = (char *) target;
        char *query = memchr(path, '?', length);
        if (query) query[1] = 0;
        path[0] = 0;
    }
    return peer;
}

static enum MHD_Result handle_request(
    void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **peer)
{
    const CMicrohttpdShim_callbacks *callbacks = context;
    (void) url;
    size_t size = *upload_size;
    // All of it is consumed, because the library passes leftovers again.
    *upload_size = 0;
    return callbacks->handle(*peer, connection, method, version, upload, size) ? MHD_YES : MHD_NO;
}

static void notify_completed(
    void *context, struct MHD_Connection *connection, void **peer, enum MHD_RequestTerminationCode code)
{
    const CMicrohttpdShim_callbacks *callbacks = context;
    (void) connection;
    (void) code;
    if (*peer) callbacks->completed(*peer);
}

typedef enum MHD_Result (*queueing)(struct MHD_Connection *, unsigned, struct MHD_Response *);

static pthread_once_t queueing_found = PTHREAD_ONCE_INIT;
// The library's own function, and the peers' handler of its error responses.
static queueing library_queue;
static void (*refuses)(void *peer, unsigned status);

static void find_queueing(void)
{
    library_queue = (queueing) dlsym(RTLD_NEXT, "MHD_queue_response");
}

// Overrides the library's function of the same name. The library rejects some requests itself, and queues its error
// responses through this function: this is the only way to learn which connection is rejected, and to respond instead.
// If the library is linked in another way, its own pages are sent.
enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (refuses && info && info->socket_context) refuses(info->socket_context, status);
    return library_queue(connection, status, response);
}

struct MHD_Daemon *CMicrohttpdShim_start(
    const CMicrohttpdShim_callbacks *callbacks, const CMicrohttpdShim_settings *settings)
{
    void *context = (void *) callbacks;
    pthread_once(&queueing_found, find_queueing);
    if (!library_queue) {
        errno = ENOSYS;
        return NULL;
    }
    // The same function for each daemon.
    if (!refuses) refuses = callbacks->refuses;
    struct MHD_OptionItem choices[4];
    unsigned count = 0;
    bool listens = settings->listening_descriptor >= 0;
    if (listens)
        choices[count++] = (struct MHD_OptionItem) {MHD_OPTION_LISTEN_SOCKET, settings->listening_descriptor, NULL};
#if MHD_VERSION >= 0x01000000
    // By default, version 1 joins folded fields, accepts bare line feeds and redirects for spaces in the target.
    choices[count++] = (struct MHD_OptionItem) {MHD_OPTION_CLIENT_DISCIPLINE_LVL, 3, NULL};
#endif
    // The library rejects a pool of one: without the option there is one thread.
    if (settings->threads > 1)
        choices[count++] = (struct MHD_OptionItem) {MHD_OPTION_THREAD_POOL_SIZE, settings->threads, NULL};
    choices[count] = (struct MHD_OptionItem) {MHD_OPTION_END, 0, NULL};
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME | (listens ? 0 : MHD_USE_NO_LISTEN_SOCKET),
        0, accept_connection, context,
        handle_request, context,
        MHD_OPTION_ARRAY, choices,
        MHD_OPTION_CONNECTION_LIMIT, settings->connections_per_thread * settings->threads,
        MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->buffer_size,
        MHD_OPTION_NOTIFY_CONNECTION, notify_connection, context,
        MHD_OPTION_NOTIFY_COMPLETED, notify_completed, context,
        MHD_OPTION_URI_LOG_CALLBACK, log_target, context,
        MHD_OPTION_END);
}

bool CMicrohttpdShim_accept(struct MHD_Daemon *daemon, int listening)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    int descriptor = accept4(listening, (struct sockaddr *) &address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) return false;
    // Closes the descriptor if the connection is not accepted.
    MHD_add_connection(daemon, descriptor, (struct sockaddr *) &address, length);
    return true;
}

struct collection {
    CMicrohttpdShim_field *fields;
    size_t capacity;
    size_t count;
};

static enum MHD_Result collect(
    void *context, enum MHD_ValueKind kind, const char *name, size_t name_length, const char *value,
    size_t value_length)
{
    struct collection *collection = context;
    (void) kind;
    if (collection->count < collection->capacity)
        collection->fields[collection->count] =
            (CMicrohttpdShim_field) {name, name_length, value ? value : "", value ? value_length : 0};
    collection->count++;
    return MHD_YES;
}

size_t CMicrohttpdShim_fields(struct MHD_Connection *connection, CMicrohttpdShim_field *fields, size_t capacity)
{
    struct collection collection = {fields, capacity, 0};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, collect, &collection);
    return collection.count;
}

static enum MHD_Result blank_expectation(
    void *context, enum MHD_ValueKind kind, const char *name, size_t name_length, const char *value,
    size_t value_length)
{
    (void) context;
    (void) kind;
    // The value is in the connection's own buffer, and its length does not change.
    if (name_length == 6 && strncasecmp(name, "Expect", 6) == 0 && value) memset((char *) value, ' ', value_length);
    return MHD_YES;
}

void CMicrohttpdShim_ignore_expectation(struct MHD_Connection *connection)
{
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, blank_expectation, NULL);
}

size_t CMicrohttpdShim_header_size(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

struct MHD_Response *CMicrohttpdShim_response_copying(const void *body, size_t size)
{
    return MHD_create_response_from_buffer(
        size, (void *) body, size > 0 ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_PERSISTENT);
}

struct MHD_Response *CMicrohttpdShim_response_lending(
    const void *body, size_t size, void (*release)(void *owner), void *owner)
{
    return MHD_create_response_from_buffer_with_free_callback_cls(size, (void *) body, release, owner);
}

struct MHD_Response *CMicrohttpdShim_response_reading(
    ssize_t (*read)(void *owner, uint64_t position, char *buffer, size_t size), void (*release)(void *owner), void *owner)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64 * 1024, read, owner, release);
}

// Writes one byte per character of valid UTF-8 and returns their number; `latin` must have room for `length`.
static size_t convert_to_latin(char *latin, const unsigned char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        if ((text[i] & 0xc0) == 0x80) continue;
        if (text[i] < 0x80)
            latin[count++] = (char) text[i];
        else if (text[i] <= 0xc3 && i + 1 < length)
            latin[count++] = (char) (text[i] << 6 | (text[i + 1] & 0x3f));
        else
            latin[count++] = '?';
    }
    return count;
}

bool CMicrohttpdShim_add_field(
    struct MHD_Response *response, const unsigned char *name, size_t name_length, const unsigned char *value,
    size_t value_length)
{
    char buffer[1024];
    size_t needed = name_length + value_length + 2;
    char *copy = needed <= sizeof buffer ? buffer : malloc(needed);
    if (!copy) return false;
    memcpy(copy, name, name_length);
    copy[name_length] = 0;
    char *text = copy + name_length + 1;
    unsigned char bits = 0;
    for (size_t i = 0; i < value_length; i++) bits |= value[i];
    size_t length = value_length;
    if (bits & 0x80)
        length = convert_to_latin(text, value, value_length);
    else
        memcpy(text, value, value_length);
    text[length] = 0;
    // The library stops reading at the first zero byte.
    bool is_added = !memchr(copy, 0, name_length) && !memchr(text, 0, length)
        && MHD_add_response_header(response, copy, text) == MHD_YES;
    if (copy != buffer) free(copy);
    return is_added;
}

void CMicrohttpdShim_discard(struct MHD_Response *response)
{
    MHD_destroy_response(response);
}

void CMicrohttpdShim_limit_idleness(struct MHD_Connection *connection, unsigned seconds)
{
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

bool CMicrohttpdShim_queue(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
    return library_queue(connection, status, response) == MHD_YES;
}
