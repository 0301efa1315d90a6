// libnatpmp behind a pointer: its own header brings the system's headers along, which Swift would
// take for parts of its module. Where the platform has no libnatpmp there is nothing behind the names.
#ifndef C_NATPMP_SHIMS_H
#define C_NATPMP_SHIMS_H

#include <stdint.h>

/// A conversation with a gateway.
typedef struct http_nat http_nat;

/// What a gateway answered: its address on the other side, or a mapping.
typedef struct {
    int is_mapping;
    /// In network order.
    uint8_t address[4];
    /// The port on this side.
    uint16_t own_port;
    uint16_t port;
    uint32_t seconds;
} http_nat_answer;

/// Why there is no answer yet, or none at all; numbers below zero are those of natpmp.h.
enum {
    HTTP_NAT_TRY_AGAIN = 1,
    HTTP_NAT_NO_GATEWAY,
    HTTP_NAT_NO_ANSWER,
    HTTP_NAT_NOT_SUPPORTED,
    HTTP_NAT_REFUSED,
    HTTP_NAT_NETWORK_FAILURE,
    HTTP_NAT_OUT_OF_RESOURCES,
};

/// Opens a conversation with the gateway of an IPv4 address in network order, or with that of the
/// default route for a null pointer. 0, or why not; a null pointer in `nat` then.
int http_nat_open(http_nat **nat, const uint8_t *gateway);

void http_nat_close(http_nat *nat);

/// The IPv4 address that the gateway of a conversation has on this side, in network order.
void http_nat_gateway(const http_nat *nat, uint8_t *address);

/// The socket, to be watched until it can be read.
int http_nat_socket(const http_nat *nat);

/// Asks for the gateway's address on the other side. 0, or why not.
int http_nat_ask_address(http_nat *nat);

/// Asks for a mapping of a TCP port; for 0 seconds takes it back. 0, or why not.
int http_nat_ask_mapping(http_nat *nat, uint16_t port, uint16_t wish, uint32_t seconds);

/// In how many microseconds the request has to be repeated, by `http_nat_read`.
int64_t http_nat_wait(http_nat *nat);

/// Reads an answer without waiting, or repeats the request when it is time. 0, or why there is none.
int http_nat_read(http_nat *nat, http_nat_answer *answer);

#endif
