// RequestReader: bytes in pieces of any size become one request, or a refusal at the first byte that forbids it.
#pragma once

#include <memory>

#include "server/http/head.h"

namespace ingot::http {

class RequestReader {
 public:
  enum class State : std::uint8_t { head, body, complete, refused };

  explicit RequestReader(const Limits& limits);  // which must outlive it
  explicit RequestReader(Limits&&) = delete;
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // How many of them were used: all, unless the request ends before.
  std::size_t feed(std::string_view bytes);

  State state() const;
  // Only empty lines came yet, which may stand before a request.
  bool is_blank() const;
  // The client waits for a word before it sends the body: true once.
  bool take_wish_to_continue();
  const Refusal& refusal() const;
  // What is known of it: method and path once its first line was read, headers once the head was.
  Request& request();
  // How much memory it takes at present.
  std::size_t held_bytes() const;

  // --- once its head is complete ---
  bool is_version_1_0() const;
  bool keeps_alive() const;
  Request take_request();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ingot::http
