#ifndef CHiredisShim_H
#define CHiredisShim_H

// hiredis' parser with a limit on arrays, and the client side of TLS, which hiredis 0.14 lacks.

#include <hiredis/hiredis.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <sys/socket.h>

/// Creates a parser of replies that rejects arrays of more than ``CHiredisShim_max_elements``. Null if memory runs
/// out.
redisReader *CHiredisShim_reader_create(void);

/// Maximum number of elements of one array.
enum { CHiredisShim_max_elements = 65536 };

/// Returns the number of bytes that were fed to a parser but not parsed yet.
size_t CHiredisShim_unparsed(const redisReader *reader);

/// Returns whether the next unparsed bytes begin a line of more than ``CHiredisShim_longest_line``.
bool CHiredisShim_has_long_line(const redisReader *reader);

/// Maximum size of a line in bytes: of a status, an error, a number or the length of a text.
enum { CHiredisShim_longest_line = 8192 };

/// Returns an element of an array reply.
redisReply *CHiredisShim_element(const redisReply *reply, size_t index);

/// Takes ownership of a reply's text, which the caller frees. Null if the reply has none.
char *CHiredisShim_take_text(redisReply *reply);

/// Creates settings for connections that verify the server's chain, with the authorities in a PEM file, or the system's
/// if it is null.
///
/// Null if the file is unusable.
SSL_CTX *CHiredisShim_tls_create(const char *authorities);

/// Creates a connection over `descriptor` whose server must show a certificate for `host`, a name or an address. Null
/// if memory runs out.
SSL *CHiredisShim_tls_open(SSL_CTX *context, int descriptor, const char *host);

/// The result of a TLS step that transferred no bytes.
enum { CHiredisShim_closed = -1,
    CHiredisShim_wants_read = -2,
    CHiredisShim_wants_write = -3 };

/// Continues the handshake. Returns 0 when it is done, otherwise one of the three.
int CHiredisShim_tls_shake(SSL *connection);

/// Reads available bytes. Returns their number, or one of the three.
ssize_t CHiredisShim_tls_read(SSL *connection, void *bytes, size_t capacity);

/// Writes as much as the system accepts. Returns the number of bytes, or one of the three.
ssize_t CHiredisShim_tls_write(SSL *connection, const void *bytes, size_t count);

#endif
