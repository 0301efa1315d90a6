#ifndef HTTP_CDNSSD_H
#define HTTP_CDNSSD_H
#include <dns_sd.h>
#endif
