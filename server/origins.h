// Which names this server answers to, and which pages may ask it. A browser that was led here by another page (by a
// name that was bent to this machine's address, by a script, by an image's address) says so in Host, Origin and
// Sec-Fetch-Site.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "server/http/message.h"

namespace ingot {

struct OriginOptions {
  std::vector<std::string> hosts = {};    // names that clients may use, besides addresses and localhost
  std::vector<std::string> origins = {};  // of other pages: https://example.org; localhost; * for all
  bool has_keys = false;                  // nobody is answered without a key
};

// What the command line gives: an error says what was expected.
Result<void> check_host_name(const std::string& name);
Result<void> check_origin(const std::string& origin);

class Origins {
 public:
  explicit Origins(OriginOptions options);

  // Whether Host is an address, or a name that leads to this machine by somebody's will: anybody can let a name of his
  // own lead to it, and have a browser take it for his. Not asked of who needs a key to be answered, unless it came to
  // loopback.
  bool is_own_host(const http::Request& request) const;
  // Whether the page that asks, if it says that it is one, is this server's own or allowed.
  bool is_allowed(const http::Request& request) const;
  // Whether a page of another site makes the browser ask without saying whose it is: for an image, a frame, a link.
  bool is_from_other_site(const http::Request& request) const;

  // What tells the browser so: for pages of others that are allowed.
  std::vector<http::Header> headers(const http::Request& request) const;

 private:
  bool allows(std::string_view origin) const;

  OriginOptions options_;
};

}  // namespace ingot
