// What HTTP carries, as the rest of the server sees it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::http {

// In place of an address, where a request came through a Unix socket.
inline constexpr std::string_view unix_peer = "unix";

struct Header {
  std::string name;
  std::string value;
};

struct Request {
  std::string method;  // as it was sent: "GET"
  std::string path;    // of the target, its %xx decoded
  std::string query;   // what follows the question mark, as it was sent
  std::vector<Header> headers;
  std::string body;
  std::string peer;             // the address that it came from, without a port; or unix_peer
  bool is_to_loopback = false;  // it was sent to an address that only this machine has

  // The first of that name, in whatever case; null where there is none.
  const std::string* header(std::string_view name) const;
};

// Why a request is not answered as it asked: the answer's status, and what was expected and found.
struct Refusal {
  int status;
  std::string reason;
};

// An answer in one piece. The server adds Date, Content-Length and Connection.
struct Answer {
  int status = 200;
  std::vector<Header> headers = {};
  std::string body = {};
};

}  // namespace ingot::http
