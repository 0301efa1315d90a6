#ifndef HTTP_CLIBSSL_H
#define HTTP_CLIBSSL_H
#include <openssl/ssl.h>
#endif
