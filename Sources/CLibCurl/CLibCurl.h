#ifndef HTTP_CLIBCURL_H
#define HTTP_CLIBCURL_H
#include <curl/curl.h>
#endif
