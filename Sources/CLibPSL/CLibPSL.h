#ifndef HTTP_CLIBPSL_H
#define HTTP_CLIBPSL_H
#include <libpsl.h>
#endif
