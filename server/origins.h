// Which names this server answers to, and which pages may ask it. A browser that was led here by another page (by a
// name that was bent to 127.0.0.1, or by a script) says so in Host and Origin.
#pragma once

#include <string>
#include <vector>

#include "server/http/message.h"

namespace ingot {

class Origins {
 public:
  // `host`: the address that it listens on. `allowed`: origins of other pages, such as https://example.org; localhost
  // for all of this machine, whatever their port; or * for all.
  Origins(std::string host, std::vector<std::string> allowed) : host_(std::move(host)), allowed_(std::move(allowed)) {}

  // Whether the name in Host is one of this machine's own; asked only of what came to a loopback address: elsewhere a
  // name can be anything.
  bool is_own_host(const http::Request& request) const;
  // Whether the page that asks, if it is a page, is this server's own or allowed.
  bool is_allowed(const http::Request& request) const;
  // What tells the browser so: for pages of others that are allowed.
  std::vector<http::Header> headers(const http::Request& request) const;

 private:
  std::string host_;
  std::vector<std::string> allowed_;
};

}  // namespace ingot
