#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CMiniUPnPShims.h"

#if defined(HTTP_UPNP_PORT_MAPPING)
#include <errno.h>
#include <miniupnpc/miniupnpc.h>
#include <miniupnpc/upnpreplyparse.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int copy(char *target, int size, const char *text) {
    size_t length = text ? strlen(text) : 0;
    if (length == 0 || size <= 0 || length >= (size_t)size) return 0;
    memcpy(target, text, length + 1);
    return 1;
}

static int names(const char *url, const char *host) {
    size_t length = strlen(host);
    return strncmp(url, "http://", 7) == 0 && strncmp(url + 7, host, length) == 0
        && (url[7 + length] == ':' || url[7 + length] == '/');
}

/// Whether a list of lines has this one.
static int has_line(const char *lines, const char *line) {
    size_t length = strlen(line);
    for (const char *next = lines; *next; next = strchr(next, '\n') + 1) {
        if (strncmp(next, line, length) == 0 && next[length] == '\n') return 1;
    }
    return 0;
}

int http_upnp_search(const char *own, const char *router, char *urls, int size) {
    int error = 0, count = 0, used = 0;
    // Only the network is asked, no daemon of this machine, and by packets that pass one router.
    struct UPNPDev *devices = upnpDiscover(1000, own, "", UPNP_LOCAL_PORT_ANY, 0, 2, &error);
    urls[0] = 0;
    for (struct UPNPDev *device = devices; device; device = device->pNext) {
        if (!names(device->descURL, router) || has_line(urls, device->descURL)) continue;
        // One byte for the end of the line.
        if (!copy(urls + used, size - used - 1, device->descURL)) continue;
        used += (int)strlen(urls + used);
        urls[used++] = '\n';
        urls[used] = 0;
        count++;
    }
    freeUPNPDevlist(devices);
    return count;
}

int http_upnp_service(
    const uint8_t *xml, int length, const char *url, int index, char *control, int control_size, char *type,
    int type_size
) {
    struct IGDdatas *data = calloc(1, sizeof *data);
    if (!data) return 0;
    parserootdesc((const char *)xml, length, data);
    // The library makes absolute URLs for the first one.
    if (index == 1) data->first = data->second;
    struct UPNPUrls urls;
    memset(&urls, 0, sizeof urls);
    int is_there = data->first.servicetype[0] != 0 && data->first.controlurl[0] != 0;
    if (is_there) {
        GetUPNPUrls(&urls, data, url, 0);
        is_there = copy(control, control_size, urls.controlURL)
            && copy(type, type_size, data->first.servicetype);
        FreeUPNPUrls(&urls);
    }
    free(data);
    return is_there;
}

int http_upnp_value(const uint8_t *xml, int length, const char *name, char *value, int size) {
    struct NameValueParserData data;
    ParseNameValue((const char *)xml, length, &data);
    int is_there = copy(value, size, GetValueFromNameValueList(&data, name));
    ClearNameValueList(&data);
    return is_there;
}

int http_upnp_connect(const uint8_t *address, uint16_t port, int is_datagram) {
    int type = (is_datagram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int descriptor = socket(AF_INET, type, 0);
    if (descriptor < 0) return -1;
    struct sockaddr_in peer;
    memset(&peer, 0, sizeof peer);
    peer.sin_family = AF_INET;
    peer.sin_port = htons(port);
    memcpy(&peer.sin_addr, address, 4);
    if (connect(descriptor, (struct sockaddr *)&peer, sizeof peer) == 0 || errno == EINPROGRESS)
        return descriptor;
    close(descriptor);
    return -1;
}

int http_upnp_wait(int descriptor, int writes, int milliseconds) {
    struct pollfd entry = {.fd = descriptor, .events = writes ? POLLOUT : POLLIN};
    return poll(&entry, 1, milliseconds) > 0;
}
#endif
