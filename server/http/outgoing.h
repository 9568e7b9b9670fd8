// Outgoing: bytes that wait to be sent. Small ones are gathered, large ones are moved in and never copied.
#pragma once

#include <sys/uio.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::http {

class Outgoing {
 public:
  std::size_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }

  void append(std::string_view bytes);
  void take(std::string bytes);

  // Fills as many as there are parts and room for, in order; returns how many it filled.
  std::size_t parts(std::span<iovec> into);
  // The first `count` bytes are sent.
  void remove(std::size_t count);

 private:
  std::vector<std::string> parts_;
  std::size_t first_ = 0;    // those before it are sent
  std::size_t removed_ = 0;  // of the first part
  std::size_t size_ = 0;
};

}  // namespace ingot::http
