#include "CNATPMPShims.h"

#if defined(HTTP_NAT_PORT_MAPPING)
#include <natpmp.h>
#include <stdlib.h>
#include <string.h>

struct http_nat {
    natpmp_t library;
};

static int reason(int code) {
    switch (code) {
    case NATPMP_TRYAGAIN: return HTTP_NAT_TRY_AGAIN;
    case NATPMP_ERR_INVALIDARGS:
    case NATPMP_ERR_CANNOTGETGATEWAY: return HTTP_NAT_NO_GATEWAY;
    // No way to the gateway, or nothing that listens there.
    case NATPMP_ERR_NOGATEWAYSUPPORT:
    case NATPMP_ERR_CONNECTERR:
    case NATPMP_ERR_SENDERR: return HTTP_NAT_NO_ANSWER;
    case NATPMP_ERR_UNSUPPORTEDVERSION:
    case NATPMP_ERR_UNSUPPORTEDOPCODE: return HTTP_NAT_NOT_SUPPORTED;
    case NATPMP_ERR_NOTAUTHORIZED: return HTTP_NAT_REFUSED;
    case NATPMP_ERR_NETWORKFAILURE: return HTTP_NAT_NETWORK_FAILURE;
    case NATPMP_ERR_OUTOFRESOURCES: return HTTP_NAT_OUT_OF_RESOURCES;
    default: return code;
    }
}

int http_nat_open(http_nat **nat, const uint8_t *gateway) {
    *nat = NULL;
    http_nat *made = calloc(1, sizeof *made);
    if (!made) return NATPMP_ERR_UNDEFINEDERROR;
    in_addr_t address = 0;
    if (gateway) memcpy(&address, gateway, 4);
    int code = initnatpmp(&made->library, gateway != NULL, address);
    if (code == 0) {
        *nat = made;
        return 0;
    }
    if (made->library.s > 0) closenatpmp(&made->library);
    free(made);
    return reason(code);
}

void http_nat_close(http_nat *nat) {
    closenatpmp(&nat->library);
    free(nat);
}

void http_nat_gateway(const http_nat *nat, uint8_t *address) {
    memcpy(address, &nat->library.gateway, 4);
}

int http_nat_socket(const http_nat *nat) { return nat->library.s; }

int http_nat_ask_address(http_nat *nat) {
    int sent = sendpublicaddressrequest(&nat->library);
    return sent > 0 ? 0 : reason(sent);
}

int http_nat_ask_mapping(http_nat *nat, uint16_t port, uint16_t wish, uint32_t seconds) {
    int sent = sendnewportmappingrequest(&nat->library, NATPMP_PROTOCOL_TCP, port, wish, seconds);
    return sent > 0 ? 0 : reason(sent);
}

int64_t http_nat_wait(http_nat *nat) {
    struct timeval time;
    if (getnatpmprequesttimeout(&nat->library, &time) != 0 || time.tv_sec < 0) return 0;
    return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

int http_nat_read(http_nat *nat, http_nat_answer *answer) {
    natpmpresp_t response;
    memset(&response, 0, sizeof response);
    int code = readnatpmpresponseorretry(&nat->library, &response);
    if (code != 0) return reason(code);
    memset(answer, 0, sizeof *answer);
    answer->is_mapping = response.type != NATPMP_RESPTYPE_PUBLICADDRESS;
    if (answer->is_mapping) {
        answer->own_port = response.pnu.newportmapping.privateport;
        answer->port = response.pnu.newportmapping.mappedpublicport;
        answer->seconds = response.pnu.newportmapping.lifetime;
    } else {
        memcpy(answer->address, &response.pnu.publicaddress.addr, 4);
    }
    return 0;
}
#endif
