/* SPDX-License-Identifier: MIT
 *
 * relay.c: passes TCP connections on, later, slower, or not whole: what a network does between a client and a server of the tests. One
 * thread on epoll and a timer, because a relay in Python would be what is measured.
 *
 *   relay ADDRESS PORT [NAME=VALUE...]     to that server; listens on 127.0.0.1, on a port that it chooses and prints
 *
 *   listen=ADDRESS   another address to listen on          backlog at most 4 MiB a direction and connection
 *   delay=US         one way, in microseconds: bytes of either direction wait so long. The first bytes of a connection leave a round
 *                    trip after it was opened, as they would after the handshake (handshake=0: at once)
 *   jitter=US        more, at random between 0 and that, for each piece that the server sends: answers of different connections
 *                    overtake each other; those of one connection stay in order
 *   rate=BYTES       a second, of what all servers send together
 *   cut=BYTES        each every=N-th connection ends after so many bytes from the server; by RST with reset=1
 *   mute=BYTES       each every=N-th connection falls silent after so many bytes from the server, and stays open
 *   seed=N           for jitter
 *
 * Standard input takes lines: "counts" prints one (connections peak refused up down turns
 * turning), "cut" ends all connections by RST, "end" and the
 * end of the input end the program.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
  PIECE = 64 << 10,
  MOST_WAITING = 4 << 20,
  EVENTS = 256,
  TICK = 100000 /* ns: what is due together is sent together */
};
enum { UP, DOWN };

typedef struct piece {
  struct piece *next;
  int64_t due; /* ns */
  size_t bytes, sent;
  char data[];
} piece;

/* What goes one way: from one socket to the other. */
typedef struct way {
  piece *first, **last;
  size_t waiting;
  int64_t last_due;
  uint64_t passed;
  int ended;  /* the sender has closed */
  int closed; /* and that was passed on */
} way;

typedef struct connection connection;

typedef struct side {
  connection *of;
  int fd, index;  /* 0: the client, 1: the server */
  uint32_t asked; /* events */
} side;

struct connection {
  connection *next;
  side sides[2];
  way ways[2];      /* UP: of side 0 to side 1 */
  int64_t open;     /* when the handshake is over: the first bytes leave no earlier */
  int64_t answered; /* when all that the server has sent had gone to the client; 0 = the client has asked since */
  int counted_faulty, muted, dead;
};

static struct {
  struct sockaddr_storage target;
  socklen_t target_bytes;
  const char *listen;
  int64_t delay, jitter, rate, cut, mute, every, reset, handshake;
  uint64_t seed;
  int64_t link_free; /* ns: when the server's link has sent what was read */
  connection *all;
  int epoll, timer, listener;
  int64_t timer_at;
  uint64_t connections, peak, refused, passed[2];
  uint64_t turns, turning; /* how often a client had its answer and asked again, and how long it took, in ns */
} relay = {.listen = "127.0.0.1", .cut = -1, .mute = -1, .every = 1, .handshake = 1, .seed = 1};

static _Noreturn void die(const char *what) {
  perror(what);
  exit(2);
}

static int64_t now_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t random_below(int64_t n) {
  relay.seed = relay.seed * 6364136223846793005u + 1442695040888963407u;
  return n > 0 ? (int64_t)((relay.seed >> 33) % (uint64_t)n) : 0;
}

/* ---- connections */

/* Those that their clients have not closed: the system knows that before we have read it. */
static uint64_t count_established(void) {
  uint64_t count = 0;
  for (const connection *c = relay.all; c; c = c->next) {
    struct tcp_info info;
    socklen_t bytes = sizeof info;
    if (!c->dead && getsockopt(c->sides[0].fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0) count += info.tcpi_state == TCP_ESTABLISHED;
  }
  return count;
}

static void ask(side *s, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = s};
  if (s->asked == events || s->fd < 0) return;
  if (epoll_ctl(relay.epoll, EPOLL_CTL_MOD, s->fd, &event) == 0) s->asked = events;
}

static void close_connection(connection *c, int by_reset) {
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  if (c->dead) return;
  c->dead = 1;
  for (int i = 0; i < 2; i++) {
    if (c->sides[i].fd >= 0) {
      if (by_reset) (void)setsockopt(c->sides[i].fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      (void)close(c->sides[i].fd);
    }
    c->sides[i].fd = -1;
    for (piece *p = c->ways[i].first, *next; p; p = next) {
      next = p->next;
      free(p);
    }
    c->ways[i].first = NULL;
  }
}

/* Dead ones go away between rounds of events, which may still name them. */
static void sweep_dead(void) {
  for (connection **at = &relay.all; *at;) {
    connection *c = *at;
    if (c->dead) {
      *at = c->next;
      free(c);
    } else {
      at = &c->next;
    }
  }
}

static int watch(side *s, connection *c, int index, int fd, uint32_t events) {
  const int one = 1;
  *s = (side){.of = c, .fd = fd, .index = index, .asked = events};
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct epoll_event event = {.events = events, .data.ptr = s};
  return epoll_ctl(relay.epoll, EPOLL_CTL_ADD, fd, &event);
}

static void accept_one(void) {
  int client = accept4(relay.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (client < 0) return;
  int server = socket(relay.target.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  connection *c = calloc(1, sizeof *c);
  if (!c || server < 0) die("connection");
  if (connect(server, (struct sockaddr *)&relay.target, relay.target_bytes) != 0 && errno != EINPROGRESS) die("connect");
  c->next = relay.all, relay.all = c;
  c->open = relay.handshake ? now_ns() + 2 * relay.delay : 0;
  for (int i = 0; i < 2; i++) c->ways[i].last = &c->ways[i].first;
  relay.connections++;
  c->counted_faulty = relay.connections % (uint64_t)relay.every == 0;
  if (watch(&c->sides[0], c, 0, client, EPOLLIN) != 0 || watch(&c->sides[1], c, 1, server, EPOLLIN) != 0) die("epoll");
  const uint64_t open = count_established();
  if (open > relay.peak) relay.peak = open;
}

/* ---- bytes */

static int64_t due_at(connection *c, int which, size_t bytes, int64_t now) {
  int64_t due = now + relay.delay;
  way *w = &c->ways[which];
  if (which == UP) {
    if (c->open > now) due = c->open + relay.delay;
  } else {
    if (relay.rate > 0) {
      if (relay.link_free < now) relay.link_free = now;
      relay.link_free += (int64_t)((double)bytes / (double)relay.rate * 1e9);
      due = relay.link_free + relay.delay;
    }
    due += random_below(relay.jitter);
  }
  due += TICK - due % TICK; /* a little later, and many together */
  if (due < w->last_due) due = w->last_due;
  return w->last_due = due;
}

/* Bytes that a fault still lets through; -1: all. */
static int64_t left_of(const connection *c, int which) {
  int64_t limit = relay.cut >= 0 ? relay.cut : relay.mute;
  if (which == UP || !c->counted_faulty || limit < 0) return -1;
  int64_t left = limit - (int64_t)c->ways[DOWN].passed;
  return left > 0 ? left : 0;
}

static int link_is_full(int which, int64_t now) { return which == DOWN && relay.rate > 0 && relay.link_free > now + 20000000; }

static void queue_piece(connection *c, int which, piece *p, int64_t now) {
  way *w = &c->ways[which];
  if (which == UP && c->answered > 0) relay.turns++, relay.turning += (uint64_t)(now - c->answered);
  if (which == UP) c->answered = 0;
  p->next = NULL, p->sent = 0, p->due = due_at(c, which, p->bytes, now);
  *w->last = p, w->last = &p->next;
  w->waiting += p->bytes, w->passed += p->bytes, relay.passed[which] += p->bytes;
}

/* Reads what a side has sent. */
static void take_in(connection *c, int which, int64_t now) {
  way *w = &c->ways[which];
  while (!c->dead && !w->ended && w->waiting < MOST_WAITING && !link_is_full(which, now)) {
    static char room[PIECE];
    ssize_t n = recv(c->sides[which].fd, room, sizeof room, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n < 0) {
      if (errno == ECONNREFUSED) relay.refused++;
      close_connection(c, 1);
      return;
    }
    int64_t left = n > 0 ? left_of(c, which) : -1;
    if (left >= 0 && n > left) {
      n = (ssize_t)left;
      if (relay.cut >= 0)
        w->ended = 1 + (relay.reset != 0);
      else
        c->muted = 1;
    } else if (n == 0) {
      w->ended = 1;
    }
    if (n == 0) continue;
    piece *p = malloc(sizeof *p + (size_t)n);
    if (!p) die("memory");
    p->bytes = (size_t)n;
    memcpy(p->data, room, p->bytes);
    queue_piece(c, which, p, now);
    if ((size_t)n < sizeof room) return; /* most likely nothing more: a call saved */
  }
}

/* Sends what is due. Returns whether the receiver has no room. */
static int give_out(connection *c, int which, int64_t now) {
  way *w = &c->ways[which];
  int to = c->sides[1 - which].fd;
  while (w->first && w->first->due <= now) {
    piece *p = w->first;
    ssize_t n = send(to, p->data + p->sent, p->bytes - p->sent, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == ENOTCONN)) return 1;
    if (n < 0) {
      close_connection(c, 1);
      return 0;
    }
    p->sent += (size_t)n, w->waiting -= (size_t)n;
    if (p->sent < p->bytes) return 1;
    w->first = p->next;
    if (!w->first) w->last = &w->first;
    if (!w->first && which == DOWN) c->answered = now;
    free(p);
  }
  if (w->ended && !w->closed && !w->first) {
    w->closed = 1;
    if (w->ended == 2)
      close_connection(c, 1);
    else
      (void)shutdown(to, SHUT_WR);
  }
  return 0;
}

/* Moves both ways, and says what it waits for. Returns when it has to be moved again, in ns; INT64_MAX: when a socket says so. */
static int64_t move(connection *c, int64_t now) {
  int64_t next = INT64_MAX;
  uint32_t wanted[2] = {0, 0};
  for (int which = 0; which < 2 && !c->dead; which++) {
    way *w = &c->ways[which];
    if (which == DOWN && c->muted) w->ended = 0;
    int full = give_out(c, which, now);
    if (c->dead) return INT64_MAX;
    if (full) wanted[1 - which] |= EPOLLOUT;
    if (!full && w->first && w->first->due < next) next = w->first->due;
    int muted = which == DOWN && c->muted;
    if (w->ended || muted || w->waiting >= MOST_WAITING) continue;
    if (!link_is_full(which, now))
      wanted[which] |= EPOLLIN;
    else if (now + 1000000 < next)
      next = now + 1000000;
  }
  if (c->ways[UP].closed && (c->ways[DOWN].closed || c->muted)) {
    close_connection(c, 0);
    return INT64_MAX;
  }
  if (relay.cut >= 0 && c->ways[DOWN].closed) { /* a cut ends both ways */
    close_connection(c, relay.reset != 0);
    return INT64_MAX;
  }
  for (int i = 0; i < 2; i++) ask(&c->sides[i], wanted[i]);
  return next;
}

static void set_timer(int64_t at) {
  if (at == relay.timer_at) return;
  relay.timer_at = at;
  struct itimerspec spec = {{0, 0}, {0, 0}};
  if (at != INT64_MAX) spec.it_value = (struct timespec){at / 1000000000, at % 1000000000};
  if (timerfd_settime(relay.timer, TFD_TIMER_ABSTIME, &spec, NULL) != 0) die("timer");
}

static void move_all(void) {
  int64_t next = INT64_MAX, now = now_ns();
  for (connection *c = relay.all; c; c = c->next) {
    int64_t at = c->dead ? INT64_MAX : move(c, now);
    if (at < next) next = at;
  }
  sweep_dead();
  set_timer(next);
}

/* ---- the program */

static void told(void) {
  static char line[256];
  static size_t used;
  ssize_t n = read(0, line + used, sizeof line - 1 - used);
  if (n <= 0) exit(0);
  used += (size_t)n;
  line[used] = 0;
  for (char *end; (end = strchr(line, '\n'));) {
    *end = 0;
    if (strcmp(line, "end") == 0) exit(0);
    if (strcmp(line, "counts") == 0) {
      printf("%llu %llu %llu %llu %llu %llu %llu\n", (unsigned long long)relay.connections, (unsigned long long)relay.peak,
             (unsigned long long)relay.refused, (unsigned long long)relay.passed[UP], (unsigned long long)relay.passed[DOWN],
             (unsigned long long)relay.turns, (unsigned long long)relay.turning);
      (void)fflush(stdout);
    }
    if (strcmp(line, "cut") == 0)
      for (connection *c = relay.all; c; c = c->next) close_connection(c, 1);
    used -= (size_t)(end + 1 - line);
    memmove(line, end + 1, used + 1);
  }
}

static socklen_t address(struct sockaddr_storage *to, const char *text, int port) {
  struct sockaddr_in *four = (struct sockaddr_in *)to;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
  memset(to, 0, sizeof *to);
  if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
    four->sin_family = AF_INET, four->sin_port = htons((uint16_t)port);
    return sizeof *four;
  }
  if (inet_pton(AF_INET6, text, &six->sin6_addr) != 1) die(text);
  six->sin6_family = AF_INET6, six->sin6_port = htons((uint16_t)port);
  return sizeof *six;
}

static void option(char *word) {
  const struct {
    const char *name;
    int64_t *value, unit;
  } known[] = {{"delay", &relay.delay, 1000}, {"jitter", &relay.jitter, 1000},   {"rate", &relay.rate, 1},
               {"cut", &relay.cut, 1},        {"mute", &relay.mute, 1},          {"every", &relay.every, 1},
               {"reset", &relay.reset, 1},    {"handshake", &relay.handshake, 1}};
  char *value = strchr(word, '=');
  if (!value) die(word);
  *value++ = 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(word, known[i].name) == 0) {
      *known[i].value = atoll(value) * known[i].unit;
      return;
    }
  if (strcmp(word, "seed") == 0)
    relay.seed = (uint64_t)atoll(value);
  else if (strcmp(word, "listen") == 0)
    relay.listen = value;
  else
    die(word);
}

static void start(void) {
  struct sockaddr_storage own;
  socklen_t bytes = address(&own, relay.listen, 0);
  relay.listener = socket(own.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (relay.listener < 0 || bind(relay.listener, (struct sockaddr *)&own, bytes) != 0 || listen(relay.listener, 1024) != 0) die("listen");
  if (getsockname(relay.listener, (struct sockaddr *)&own, &bytes) != 0) die("port");
  relay.epoll = epoll_create1(EPOLL_CLOEXEC);
  relay.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  relay.timer_at = INT64_MAX;
  static int fds[3];
  fds[0] = 0, fds[1] = relay.listener, fds[2] = relay.timer;
  for (int i = 0; i < 3; i++) { /* known by where their number is kept */
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    event.data.ptr = &fds[i];
    if (epoll_ctl(relay.epoll, EPOLL_CTL_ADD, fds[i], &event) != 0) die("epoll");
  }
  const struct sockaddr_in *four = (struct sockaddr_in *)&own;
  const struct sockaddr_in6 *six = (struct sockaddr_in6 *)&own;
  printf("%d\n", ntohs(own.ss_family == AF_INET ? four->sin_port : six->sin6_port));
  (void)fflush(stdout);
  for (;;) {
    struct epoll_event events[EVENTS];
    int n = epoll_wait(relay.epoll, events, EVENTS, -1);
    for (int i = 0; i < n; i++) {
      uint64_t times;
      void *what = events[i].data.ptr;
      if (what == &fds[0])
        told();
      else if (what == &fds[1])
        accept_one();
      else if (what == &fds[2]) {
        if (read(relay.timer, &times, sizeof times) > 0) relay.timer_at = INT64_MAX;
      } else {
        side *s = what;
        if (s->of->dead || s->fd < 0) continue;
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) take_in(s->of, s->index, now_ns());
      }
    }
    move_all();
  }
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: relay ADDRESS PORT [NAME=VALUE...]\n", stderr);
    return 2;
  }
  relay.target_bytes = address(&relay.target, argv[1], atoi(argv[2]));
  for (int i = 3; i < argc; i++) option(argv[i]);
  if (relay.every < 1) relay.every = 1;
  start();
}
