#ifndef HTTP_CLIBCRYPTO_H
#define HTTP_CLIBCRYPTO_H
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#endif
