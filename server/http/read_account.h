// ReadAccount: what is held of requests before they are handed out, of all clients and of each, so that nobody takes
// the room of all.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "server/http/server.h"

namespace ingot::http {

class ReadAccount {
 public:
  explicit ReadAccount(const Limits& limits) : limits_(limits) {}  // which must outlive it

  // One connection of this peer held `before` bytes, and holds `after` now.
  void change(const std::string& peer, std::size_t before, std::size_t after);
  // Why nothing more is taken from this peer; nothing where there is room.
  std::optional<Refusal> refusal_for(const std::string& peer) const;

 private:
  const Limits& limits_;
  std::size_t all_ = 0;
  std::unordered_map<std::string, std::size_t> peers_;  // those that hold something
};

}  // namespace ingot::http
