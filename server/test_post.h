// For tests: a request with a JSON body, as it is sent.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

inline std::string post_of(std::string_view path, const std::string& body) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace ingot
