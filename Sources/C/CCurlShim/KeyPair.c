#include "CCurlShim.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

static int no_passphrase(char *buffer, int size, int is_encrypting, void *context)
{
    (void) buffer, (void) size, (void) is_encrypting, (void) context;
    return -1;
}

int CCurlShim_is_key_pair(const char *certificate_file, const char *key_file)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context) return 0;
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    int is_pair = SSL_CTX_use_certificate_chain_file(context, certificate_file) == 1
        && SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) == 1
        && SSL_CTX_check_private_key(context) == 1;
    SSL_CTX_free(context);
    ERR_clear_error();
    return is_pair;
}
