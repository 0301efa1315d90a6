// libminiupnpc behind plain texts: its own headers bring structures along that differ between its
// versions. The requests to a router are made in Swift, because the library reads answers of any
// length. Where the platform has no libminiupnpc there is nothing behind the names.
#ifndef C_MINIUPNP_SHIMS_H
#define C_MINIUPNP_SHIMS_H

#include <stdint.h>

/// Searches for routers by SSDP, and blocks until an answer has come: a second or more, at most about
/// four. Writes the URLs of their descriptions, one a line, that name this host: the address of a
/// router, as text.
/// - own: the address of the interface to search on, as text.
/// - Returns: how many there are.
int http_upnp_search(const char *own, const char *router, char *urls, int size);

/// Reads a description. Gives the control URL and the type of its first (0) or second (1) service
/// that maps ports.
/// - xml: ends with a null byte after `length` bytes.
/// - url: where the description comes from; relative URLs refer to it.
/// - Returns: whether there is one, and both fit.
int http_upnp_service(
    const uint8_t *xml, int length, const char *url, int index, char *control, int control_size, char *type,
    int type_size);

/// The content of the last element of this name without children, in a router's answer.
/// - Returns: whether there is one that fits.
int http_upnp_value(const uint8_t *xml, int length, const char *name, char *value, int size);

/// Opens a socket that is connected to an IPv4 address in network order, or soon will be; it never
/// blocks. Negative when that fails.
int http_upnp_connect(const uint8_t *address, uint16_t port, int is_datagram);

/// Waits until a socket can be written or read. 0 when that takes longer.
int http_upnp_wait(int descriptor, int writes, int milliseconds);

#endif
