#include "CHiredisShim.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <string.h>

static redisReplyObjectFunctions bounded;
static redisReplyObjectFunctions original;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif

// hiredis allocates an array as soon as its length is announced.
static void *create_bounded_array(const redisReadTask *task, element_count elements)
{
    if ((unsigned long long) elements > CHiredisShim_max_elements) return NULL;
    return original.createArray(task, elements);
}

static void prepare(void)
{
    redisReader *reader = redisReaderCreate();
    if (reader == NULL) return;
    original = bounded = *reader->fn;
    bounded.createArray = create_bounded_array;
    redisReaderFree(reader);
}

redisReader *CHiredisShim_reader_create(void)
{
    pthread_once(&once, prepare);
    redisReader *reader = bounded.createArray == NULL ? NULL : redisReaderCreate();
    if (reader == NULL) return NULL;
    reader->fn = &bounded;
    // Otherwise its buffer would be freed after every large reply.
    reader->maxbuf = 1 << 20;
    return reader;
}

size_t CHiredisShim_unparsed(const redisReader *reader) { return reader->len - reader->pos; }

bool CHiredisShim_has_long_line(const redisReader *reader)
{
    // The parser is at the start of a line whenever it waits for more bytes.
    const char *rest = reader->buf + reader->pos;
    return CHiredisShim_unparsed(reader) > CHiredisShim_longest_line
        && memchr(rest, '\n', CHiredisShim_longest_line) == NULL;
}

redisReply *CHiredisShim_element(const redisReply *reply, size_t index)
{
    return index < reply->elements ? reply->element[index] : NULL;
}

char *CHiredisShim_take_text(redisReply *reply)
{
    char *text = reply->str;
    reply->str = NULL;
    return text;
}

SSL_CTX *CHiredisShim_tls_create(const char *authorities)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) return NULL;
    int is_trusting = authorities == NULL ? SSL_CTX_set_default_verify_paths(context)
                                          : SSL_CTX_load_verify_locations(context, authorities, NULL);
    if (is_trusting != 1 || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
        SSL_CTX_free(context);
        ERR_clear_error();
        return NULL;
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return context;
}

SSL *CHiredisShim_tls_open(SSL_CTX *context, int descriptor, const char *host)
{
    SSL *connection = SSL_new(context);
    if (connection == NULL) return NULL;
    unsigned char address[16];
    int is_address = inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    int is_named = is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host) == 1
                              : SSL_set1_host(connection, host) == 1 && SSL_set_tlsext_host_name(connection, host) == 1;
    if (!is_named || SSL_set_fd(connection, descriptor) != 1) {
        SSL_free(connection);
        ERR_clear_error();
        return NULL;
    }
    SSL_set_connect_state(connection);
    return connection;
}

static int outcome(SSL *connection, int result)
{
    int error = SSL_get_error(connection, result);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ) return CHiredisShim_wants_read;
    if (error == SSL_ERROR_WANT_WRITE) return CHiredisShim_wants_write;
    return CHiredisShim_closed;
}

int CHiredisShim_tls_shake(SSL *connection)
{
    int result = SSL_do_handshake(connection);
    return result == 1 ? 0 : outcome(connection, result);
}

ssize_t CHiredisShim_tls_read(SSL *connection, void *bytes, size_t capacity)
{
    size_t count = 0;
    int result = SSL_read_ex(connection, bytes, capacity, &count);
    return result == 1 ? (ssize_t) count : outcome(connection, result);
}

ssize_t CHiredisShim_tls_write(SSL *connection, const void *bytes, size_t count)
{
    size_t written = 0;
    int result = SSL_write_ex(connection, bytes, count, &written);
    return result == 1 ? (ssize_t) written : outcome(connection, result);
}
