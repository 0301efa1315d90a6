#ifndef HTTP_CLIBXML2_H
#define HTTP_CLIBXML2_H
#include <libxml/parser.h>
#endif
