#include "server/http/read_account.h"

namespace ingot::http {

void ReadAccount::change(const std::string& peer, std::size_t before, std::size_t after) {
  if (before == after) return;
  all_ = all_ - before + after;
  const auto place = peers_.try_emplace(peer, 0).first;
  place->second = place->second - before + after;
  if (place->second == 0) peers_.erase(place);
}

std::optional<Refusal> ReadAccount::refusal_for(const std::string& peer) const {
  if (all_ > limits_.all_read_bytes) return Refusal{503, "others send more at this moment than there is room for"};
  const auto place = peers_.find(peer);
  if (place == peers_.end() || place->second <= limits_.peer_read_bytes) return std::nullopt;
  return Refusal{503, "expected at most " + std::to_string(limits_.peer_read_bytes) +
                          " bytes of requests from one address at a time, found more"};
}

}  // namespace ingot::http
