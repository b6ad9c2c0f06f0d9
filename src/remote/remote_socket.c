/* SPDX-License-Identifier: MIT
 *
 * remote_socket.c: opens the sockets of libcurl, so that no name, however it resolves, leads to an address that hands out credentials.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* SOCK_CLOEXEC */
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(GATHER_HAVE_CURL)
#include "remote/remote_internal.h"

static bool is_metadata(const struct curl_sockaddr *address) {
  if (address->family == AF_INET) {
    struct sockaddr_in four;
    memcpy(&four, &address->addr, sizeof four);
    return gather_remote_is_metadata((const unsigned char *)&four.sin_addr, 4);
  }
  /* curl_sockaddr has room for longer addresses than its last member says. */
  struct sockaddr_in6 six;
  if (address->family != AF_INET6 || address->addrlen < sizeof six) return false;
  memcpy(&six, (const char *)address + offsetof(struct curl_sockaddr, addr), sizeof six);
  return gather_remote_is_metadata((const unsigned char *)&six.sin6_addr, 16);
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
  if (is_metadata(address) && !own->own_address) {
    own->refused_address = true;
    return CURL_SOCKET_BAD;
  }
#if defined(SOCK_CLOEXEC)
  int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
  int made = socket(address->family, address->socktype, address->protocol);
  if (made >= 0) (void)fcntl(made, F_SETFD, FD_CLOEXEC);
#endif
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
