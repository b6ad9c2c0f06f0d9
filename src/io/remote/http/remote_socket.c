/* SPDX-License-Identifier: MIT
 *
 * remote_socket.c: opens the sockets of libcurl, so that no name, however it resolves, leads to an address that hands out credentials,
 * and no redirect to one that is nearer than the server which sends it.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* SOCK_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(GATHER_HAVE_CURL)
#include "io/remote/remote_internal.h"

/* Other families than those of the internet are refused: libcurl has none here. */
static gather_remote_reach reach_of(const struct curl_sockaddr *address) {
  if (address->family == AF_INET) {
    struct sockaddr_in four;
    memcpy(&four, &address->addr, sizeof four);
    return gather_remote_reach_of((const unsigned char *)&four.sin_addr, 4);
  }
  /* curl_sockaddr has room for longer addresses than its last member says. */
  struct sockaddr_in6 six;
  if (address->family != AF_INET6 || address->addrlen < sizeof six) return GATHER_REMOTE_CREDENTIALS;
  memcpy(&six, (const char *)address + offsetof(struct curl_sockaddr, addr), sizeof six);
  return gather_remote_reach_of((const unsigned char *)&six.sin6_addr, 16);
}

static bool refuses(gather_remote_transfer *transfer, gather_remote_reach reach) {
  if (reach <= transfer->limit) return false;
  transfer->refused_address = true;
  transfer->refused = reach;
  return true;
}

/* libcurl's: before a request is sent on a connection, also one that was opened for another request. 0 sends it, 1 ends the transfer. */
static int before_request(void *transfer, char *there, char *here, int port, int own_port) {
  gather_remote_reach reach = GATHER_REMOTE_CREDENTIALS;
  (void)here, (void)port, (void)own_port;
  (void)gather_remote_reach_named(there, &reach);
  return refuses(transfer, reach);
}

/* CURLOPT_PREREQFUNCTION and its data, since 7.80: older headers have no names for them. Older libraries open a connection for each
 * redirect instead, whose address gather_remote_open_socket sees. */
bool gather_remote_set_sockets(gather_remote_transfer *transfer) {
  const gather_curl *curl = transfer->client->curl;
  CURL *easy = transfer->easy;
  int (*checks)(void *, char *, char *, int, int) = before_request;
  bool checked = curl->easy_setopt(easy, (CURLoption)10313, transfer) == CURLE_OK && /* before who needs it */
                 curl->easy_setopt(easy, (CURLoption)20312, checks) == CURLE_OK;
  const long fresh = !checked && transfer->hops > 0;
  return curl->easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, gather_remote_open_socket) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, gather_remote_close_socket) == CURLE_OK &&
         curl->easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, transfer->client) == CURLE_OK;
}

gather_remote_reach gather_remote_reach_connected(const gather_remote_transfer *transfer) {
  const char *address = NULL;
  gather_remote_reach reach = GATHER_REMOTE_PUBLIC;
  if (transfer->client->curl->easy_getinfo(transfer->easy, CURLINFO_PRIMARY_IP, &address) == CURLE_OK && address)
    (void)gather_remote_reach_named(address, &reach);
  return reach;
}

static void remember(gather_remote_client *client, int from, int to) {
  for (size_t i = 0; i < sizeof client->sockets / sizeof *client->sockets; i++)
    if (client->sockets[i] == from) {
      client->sockets[i] = to;
      return;
    }
}

curl_socket_t gather_remote_open_socket(void *transfer, curlsocktype purpose, struct curl_sockaddr *address) {
  gather_remote_transfer *own = transfer;
  (void)purpose;
  if (refuses(own, reach_of(address))) return CURL_SOCKET_BAD;
#if defined(SOCK_CLOEXEC)
  int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
  int made = socket(address->family, address->socktype, address->protocol);
  if (made >= 0) (void)fcntl(made, F_SETFD, FD_CLOEXEC);
#endif
  if (made < 0) own->no_descriptor = errno == EMFILE || errno == ENFILE;
  if (made < 0) return CURL_SOCKET_BAD;
  remember(own->client, -1, made);
  (void)pthread_mutex_lock(&own->client->lock);
  own->client->counts.connections++;
  (void)pthread_mutex_unlock(&own->client->lock);
  return made;
}

int gather_remote_close_socket(void *client, curl_socket_t socket) {
  remember(client, socket, -1);
  return close(socket);
}

void gather_remote_close_sockets(gather_remote_client *client) {
  for (size_t i = 0; i < sizeof client->sockets / sizeof *client->sockets; i++)
    if (client->sockets[i] >= 0) (void)close(client->sockets[i]);
}

#endif
