#ifndef HTTP_CLIBXML2_H
#define HTTP_CLIBXML2_H

#include <libxml/xmlversion.h>
// With ICU in libxml2 its headers bring those of the system's ICU, whose types differ from those of
// Foundation's: a program that imports both does not compile. No structure that is used here has a
// member of ICU's.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>

#endif
