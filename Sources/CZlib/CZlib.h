#ifndef HTTP_CZLIB_H
#define HTTP_CZLIB_H
#include <zlib.h>
#endif
