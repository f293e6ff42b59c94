/* The border between TLS and the module libleat_tls.so (tls_module.c, base/module.h), which is
 * linked with OpenSSL. It is loaded where a context is first made. Included by tls_private.h alone.
 *
 * The table is OpenSSL's own functions, not those of tls.h: the code of TLS stays in the library,
 * with its memory, and what tests do to calls of the system reaches it. Its files write OpenSSL's
 * names, which lead into the table here, but in the module itself; so do OpenSSL's macros, since
 * all headers are included before. The library is not linked where one is used that is missing from
 * the list, or from the names below it. */
#ifndef LEATI_COLL_TLS_MODULE_H
#define LEATI_COLL_TLS_MODULE_H

#include "base/module.h"
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#define LEATI_TLS_OPENSSL_FUNCTIONS(X)                                                             \
    X(BIO_clear_flags)                                                                             \
    X(BIO_free)                                                                                    \
    X(BIO_get_data)                                                                                \
    X(BIO_get_new_index)                                                                           \
    X(BIO_meth_free)                                                                               \
    X(BIO_meth_new)                                                                                \
    X(BIO_meth_set_create)                                                                         \
    X(BIO_meth_set_ctrl)                                                                           \
    X(BIO_meth_set_read)                                                                           \
    X(BIO_meth_set_write)                                                                          \
    X(BIO_new)                                                                                     \
    X(BIO_set_data)                                                                                \
    X(BIO_set_flags)                                                                               \
    X(BIO_set_init)                                                                                \
    X(ERR_clear_error)                                                                             \
    X(ERR_peek_error)                                                                              \
    X(ERR_reason_error_string)                                                                     \
    X(EVP_sha256)                                                                                  \
    X(OPENSSL_init_ssl)                                                                            \
    X(SSL_CTX_ctrl)                                                                                \
    X(SSL_CTX_free)                                                                                \
    X(SSL_CTX_get0_certificate)                                                                    \
    X(SSL_CTX_get_cert_store)                                                                      \
    X(SSL_CTX_load_verify_locations)                                                               \
    X(SSL_CTX_new)                                                                                 \
    X(SSL_CTX_set_alpn_protos)                                                                     \
    X(SSL_CTX_set_alpn_select_cb)                                                                  \
    X(SSL_CTX_set_ciphersuites)                                                                    \
    X(SSL_CTX_set_default_passwd_cb)                                                               \
    X(SSL_CTX_set_num_tickets)                                                                     \
    X(SSL_CTX_set_options)                                                                         \
    X(SSL_CTX_set_verify)                                                                          \
    X(SSL_CTX_use_PrivateKey_file)                                                                 \
    X(SSL_CTX_use_certificate_chain_file)                                                          \
    X(SSL_ctrl)                                                                                    \
    X(SSL_do_handshake)                                                                            \
    X(SSL_free)                                                                                    \
    X(SSL_get0_alpn_selected)                                                                      \
    X(SSL_get0_param)                                                                              \
    X(SSL_get1_peer_certificate)                                                                   \
    X(SSL_get_error)                                                                               \
    X(SSL_get_verify_result)                                                                       \
    X(SSL_new)                                                                                     \
    X(SSL_pending)                                                                                 \
    X(SSL_read)                                                                                    \
    X(SSL_select_next_proto)                                                                       \
    X(SSL_set_accept_state)                                                                        \
    X(SSL_set_bio)                                                                                 \
    X(SSL_set_connect_state)                                                                       \
    X(SSL_set_default_read_buffer_len)                                                             \
    X(SSL_set_read_ahead)                                                                          \
    X(SSL_write)                                                                                   \
    X(TLS_method)                                                                                  \
    X(X509_NAME_cmp)                                                                               \
    X(X509_STORE_CTX_free)                                                                         \
    X(X509_STORE_CTX_get_current_cert)                                                             \
    X(X509_STORE_CTX_get_error)                                                                    \
    X(X509_STORE_CTX_get_error_depth)                                                              \
    X(X509_STORE_CTX_init)                                                                         \
    X(X509_STORE_CTX_new)                                                                          \
    X(X509_STORE_CTX_set_default)                                                                  \
    X(X509_VERIFY_PARAM_set1_host)                                                                 \
    X(X509_VERIFY_PARAM_set1_ip_asc)                                                               \
    X(X509_VERIFY_PARAM_set_hostflags)                                                             \
    X(X509_digest)                                                                                 \
    X(X509_free)                                                                                   \
    X(X509_get_issuer_name)                                                                        \
    X(X509_get_subject_name)                                                                       \
    X(X509_verify_cert)                                                                            \
    X(X509_verify_cert_error_string)

typedef struct leati_tls_openssl {
    leati_module_head head;
#define X(name) __typeof__(name) *name;
    LEATI_TLS_OPENSSL_FUNCTIONS(X)
#undef X
} leati_tls_openssl;

/* Loaded by leati_tls_context_new. */
extern leati_module leati_tls_module;

#ifndef LEATI_MODULE_ITSELF
#define LEATI_TLS_OPENSSL ((const leati_tls_openssl *)leati_tls_module.table)
#define BIO_clear_flags LEATI_TLS_OPENSSL->BIO_clear_flags
#define BIO_free LEATI_TLS_OPENSSL->BIO_free
#define BIO_get_data LEATI_TLS_OPENSSL->BIO_get_data
#define BIO_get_new_index LEATI_TLS_OPENSSL->BIO_get_new_index
#define BIO_meth_free LEATI_TLS_OPENSSL->BIO_meth_free
#define BIO_meth_new LEATI_TLS_OPENSSL->BIO_meth_new
#define BIO_meth_set_create LEATI_TLS_OPENSSL->BIO_meth_set_create
#define BIO_meth_set_ctrl LEATI_TLS_OPENSSL->BIO_meth_set_ctrl
#define BIO_meth_set_read LEATI_TLS_OPENSSL->BIO_meth_set_read
#define BIO_meth_set_write LEATI_TLS_OPENSSL->BIO_meth_set_write
#define BIO_new LEATI_TLS_OPENSSL->BIO_new
#define BIO_set_data LEATI_TLS_OPENSSL->BIO_set_data
#define BIO_set_flags LEATI_TLS_OPENSSL->BIO_set_flags
#define BIO_set_init LEATI_TLS_OPENSSL->BIO_set_init
#define ERR_clear_error LEATI_TLS_OPENSSL->ERR_clear_error
#define ERR_peek_error LEATI_TLS_OPENSSL->ERR_peek_error
#define ERR_reason_error_string LEATI_TLS_OPENSSL->ERR_reason_error_string
#define EVP_sha256 LEATI_TLS_OPENSSL->EVP_sha256
#define OPENSSL_init_ssl LEATI_TLS_OPENSSL->OPENSSL_init_ssl
#define SSL_CTX_ctrl LEATI_TLS_OPENSSL->SSL_CTX_ctrl
#define SSL_CTX_free LEATI_TLS_OPENSSL->SSL_CTX_free
#define SSL_CTX_get0_certificate LEATI_TLS_OPENSSL->SSL_CTX_get0_certificate
#define SSL_CTX_get_cert_store LEATI_TLS_OPENSSL->SSL_CTX_get_cert_store
#define SSL_CTX_load_verify_locations LEATI_TLS_OPENSSL->SSL_CTX_load_verify_locations
#define SSL_CTX_new LEATI_TLS_OPENSSL->SSL_CTX_new
#define SSL_CTX_set_alpn_protos LEATI_TLS_OPENSSL->SSL_CTX_set_alpn_protos
#define SSL_CTX_set_alpn_select_cb LEATI_TLS_OPENSSL->SSL_CTX_set_alpn_select_cb
#define SSL_CTX_set_ciphersuites LEATI_TLS_OPENSSL->SSL_CTX_set_ciphersuites
#define SSL_CTX_set_default_passwd_cb LEATI_TLS_OPENSSL->SSL_CTX_set_default_passwd_cb
#define SSL_CTX_set_num_tickets LEATI_TLS_OPENSSL->SSL_CTX_set_num_tickets
#define SSL_CTX_set_options LEATI_TLS_OPENSSL->SSL_CTX_set_options
#define SSL_CTX_set_verify LEATI_TLS_OPENSSL->SSL_CTX_set_verify
#define SSL_CTX_use_PrivateKey_file LEATI_TLS_OPENSSL->SSL_CTX_use_PrivateKey_file
#define SSL_CTX_use_certificate_chain_file LEATI_TLS_OPENSSL->SSL_CTX_use_certificate_chain_file
#define SSL_ctrl LEATI_TLS_OPENSSL->SSL_ctrl
#define SSL_do_handshake LEATI_TLS_OPENSSL->SSL_do_handshake
#define SSL_free LEATI_TLS_OPENSSL->SSL_free
#define SSL_get0_alpn_selected LEATI_TLS_OPENSSL->SSL_get0_alpn_selected
#define SSL_get0_param LEATI_TLS_OPENSSL->SSL_get0_param
#define SSL_get1_peer_certificate LEATI_TLS_OPENSSL->SSL_get1_peer_certificate
#define SSL_get_error LEATI_TLS_OPENSSL->SSL_get_error
#define SSL_get_verify_result LEATI_TLS_OPENSSL->SSL_get_verify_result
#define SSL_new LEATI_TLS_OPENSSL->SSL_new
#define SSL_pending LEATI_TLS_OPENSSL->SSL_pending
#define SSL_read LEATI_TLS_OPENSSL->SSL_read
#define SSL_select_next_proto LEATI_TLS_OPENSSL->SSL_select_next_proto
#define SSL_set_accept_state LEATI_TLS_OPENSSL->SSL_set_accept_state
#define SSL_set_bio LEATI_TLS_OPENSSL->SSL_set_bio
#define SSL_set_connect_state LEATI_TLS_OPENSSL->SSL_set_connect_state
#define SSL_set_default_read_buffer_len LEATI_TLS_OPENSSL->SSL_set_default_read_buffer_len
#define SSL_set_read_ahead LEATI_TLS_OPENSSL->SSL_set_read_ahead
#define SSL_write LEATI_TLS_OPENSSL->SSL_write
#define TLS_method LEATI_TLS_OPENSSL->TLS_method
#define X509_NAME_cmp LEATI_TLS_OPENSSL->X509_NAME_cmp
#define X509_STORE_CTX_free LEATI_TLS_OPENSSL->X509_STORE_CTX_free
#define X509_STORE_CTX_get_current_cert LEATI_TLS_OPENSSL->X509_STORE_CTX_get_current_cert
#define X509_STORE_CTX_get_error LEATI_TLS_OPENSSL->X509_STORE_CTX_get_error
#define X509_STORE_CTX_get_error_depth LEATI_TLS_OPENSSL->X509_STORE_CTX_get_error_depth
#define X509_STORE_CTX_init LEATI_TLS_OPENSSL->X509_STORE_CTX_init
#define X509_STORE_CTX_new LEATI_TLS_OPENSSL->X509_STORE_CTX_new
#define X509_STORE_CTX_set_default LEATI_TLS_OPENSSL->X509_STORE_CTX_set_default
#define X509_VERIFY_PARAM_set1_host LEATI_TLS_OPENSSL->X509_VERIFY_PARAM_set1_host
#define X509_VERIFY_PARAM_set1_ip_asc LEATI_TLS_OPENSSL->X509_VERIFY_PARAM_set1_ip_asc
#define X509_VERIFY_PARAM_set_hostflags LEATI_TLS_OPENSSL->X509_VERIFY_PARAM_set_hostflags
#define X509_digest LEATI_TLS_OPENSSL->X509_digest
#define X509_free LEATI_TLS_OPENSSL->X509_free
#define X509_get_issuer_name LEATI_TLS_OPENSSL->X509_get_issuer_name
#define X509_get_subject_name LEATI_TLS_OPENSSL->X509_get_subject_name
#define X509_verify_cert LEATI_TLS_OPENSSL->X509_verify_cert
#define X509_verify_cert_error_string LEATI_TLS_OPENSSL->X509_verify_cert_error_string
#endif

#endif
