#ifndef CHiredisShim_H
#define CHiredisShim_H

// The parser of hiredis with a bound on arrays, and the client's side of TLS, which hiredis 0.14 does not have.

#include <hiredis/hiredis.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <sys/socket.h>

/// A parser of replies that refuses arrays of more than ``CHiredisShim_most_elements``. Null without memory.
redisReader *CHiredisShim_reader_create(void);

/// Most elements of one array.
enum { CHiredisShim_most_elements = 65536 };

/// Bytes that were fed to a parser and are not parsed yet.
size_t CHiredisShim_unparsed(const redisReader *reader);

/// Whether the next unparsed bytes are the beginning of a line of more than ``CHiredisShim_longest_line``.
bool CHiredisShim_has_long_line(const redisReader *reader);

/// Most bytes of a line: of a status, an error, a number or the length of a text.
enum { CHiredisShim_longest_line = 8192 };

/// An element of an array reply.
redisReply *CHiredisShim_element(const redisReply *reply, size_t index);

/// Takes the text out of a reply; the caller frees it. Null if the reply has none.
char *CHiredisShim_take_text(redisReply *reply);

/// Settings for connections that verify the server's chain, with the authorities in a file of PEM, or the system's if it is null.
///
/// Null if the file cannot be used.
SSL_CTX *CHiredisShim_tls_create(const char *authorities);

/// A connection over `descriptor` that must show a certificate for `host`, a name or an address. Null without memory.
SSL *CHiredisShim_tls_open(SSL_CTX *context, int descriptor, const char *host);

/// How a step of TLS ended, if it did not move bytes.
enum { CHiredisShim_closed = -1,
    CHiredisShim_wants_read = -2,
    CHiredisShim_wants_write = -3 };

/// Goes on with the handshake. 0 when it is done, else one of the three.
int CHiredisShim_tls_shake(SSL *connection);

/// Reads what there is. The number of bytes, or one of the three.
ssize_t CHiredisShim_tls_read(SSL *connection, void *bytes, size_t capacity);

/// Writes as much as the system takes. The number of bytes, or one of the three.
ssize_t CHiredisShim_tls_write(SSL *connection, const void *bytes, size_t count);

#endif
