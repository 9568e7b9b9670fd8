// Server: listens, reads requests, hands each to a handler as an Exchange, and sends what comes back. One thread runs
// all connections.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>

#include "base/result.h"
#include "server/http/exchange.h"

namespace ingot::http {

struct Limits {
  std::size_t head_bytes = 16 << 10;
  std::size_t headers = 100;
  std::size_t target_bytes = 8 << 10;
  std::size_t body_bytes = 16 << 20;
  // What is held of all requests that are being read, and of those of one address: together they could be far more.
  // There is always room for two of the largest, and for one of one address.
  std::size_t all_read_bytes = 256 << 20;
  std::size_t peer_read_bytes = 64 << 20;
  std::int64_t connections = 20'000;
  std::chrono::milliseconds head_time{10'000};    // from its first byte to its last
  std::int64_t least_bytes_a_second = 1024;       // of a body, or of an answer that waits: slower ones are given up
  std::chrono::milliseconds idle_time{75'000};    // between requests
  std::size_t unsent_bytes = 256 << 10;           // of a stream, before its writer is told to stop
  std::size_t all_unsent_bytes = 256 << 20;       // of all answers; where more wait, further ones become 503
  std::chrono::milliseconds unread_time{60'000};  // before a client that reads slowly is given up
  std::chrono::milliseconds ping_time{15'000};
};

struct ServerOptions {
  std::string host = "127.0.0.1";  // a numeric address, of version 4 or 6; empty: none
  int port = 8080;                 // 0: any that is free
  std::string unix_path = {};      // a Unix socket; empty: none
  std::string certificate = {};    // PEM files, for TLS; empty: none
  std::string private_key = {};
  Limits limits = {};
  bool needs_all_connections = false;  // even a few less are worth a warning
};

// What requests are refused with below the handler.
inline constexpr std::array refusal_statuses = {400, 408, 413, 414, 417, 431, 500, 503, 505};

// What happened since it began, and what is the case now.
struct ServerCounts {
  std::int64_t connections = 0;  // now
  std::int64_t answering = 0;    // of these: with a request under way, to the last byte of its answer
  std::int64_t accepted = 0;
  std::int64_t dropped = 0;                                        // idle ones that had to go for new ones
  std::int64_t turned_away = 0;                                    // new ones, where all others were busy
  std::int64_t late = 0;                                           // given up: too slow, or idle for too long
  std::int64_t tls_failures = 0;                                   // not agreed on TLS, plain HTTP included
  std::array<std::int64_t, refusal_statuses.size()> refused = {};  // requests, in the order of refusal_statuses
  std::int64_t bytes_in = 0;
  std::int64_t bytes_out = 0;
};

class Handler {
 public:
  virtual ~Handler() = default;
  // On the loop's thread, which it must not keep.
  virtual void handle(std::shared_ptr<Exchange> exchange) = 0;
  // Whether the body that follows this head is worth reading. Where it is not, the request is handed out without it, to
  // be refused as it would be with it, and the connection ends with its answer.
  virtual bool wants_body(const Request& head) = 0;
  // The answer to a request that could not be read as one: 400, 408, 413, 414, 417, 431, 505; or that could not be
  // taken: 500 (its exchange was let go of), 503 (no room, no connection that is free, or the server drains). Of the
  // request only the peer is always known; method and path where its first line could be read.
  virtual Answer refuse(const Refusal& refusal, const Request& request) = 0;
};

class Server {
 public:
  // Listens at once: a port that is taken is an error here. The handler must outlive the server.
  static Result<std::unique_ptr<Server>> create(const ServerOptions& options, Handler& handler);
  virtual ~Server() = default;

  virtual int port() const = 0;  // 0 without an address
  // What the user should know: that the system allows far fewer connections than the limits, or fewer than are needed.
  // Empty where there is nothing.
  virtual std::string_view warning() const = 0;
  // Runs the loop on this thread until stop().
  virtual void run() = 0;

  // --- from any thread ---
  // No new connections and no further requests on those there are. `done` is called once the last answer is through.
  virtual void drain(std::function<void()> done) = 0;
  virtual void stop() = 0;
  // Runs on the loop's thread, soon or after a while.
  virtual void post(std::function<void()> task) = 0;
  virtual void post_after(std::chrono::milliseconds delay, std::function<void()> task) = 0;
  virtual ServerCounts counts() const = 0;
};

}  // namespace ingot::http
