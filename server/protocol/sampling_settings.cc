#include "server/protocol/sampling_settings.h"

namespace ingot::protocol {

void add_sampling(JsonWriter& writer, const SamplerOptions& sampling, std::optional<std::uint64_t> seed) {
  writer.key("seed");
  if (seed) {
    writer.number(static_cast<std::int64_t>(*seed));
  } else {
    writer.null();
  }
  writer.key("temperature").number(sampling.temperature).key("top_k").number(sampling.top_k);
  writer.key("top_p").number(sampling.top_p).key("min_p").number(sampling.min_p);
  writer.key("repeat_penalty").number(sampling.repetition);
  writer.key("repeat_last_n").number(sampling.penalty_window);
  writer.key("presence_penalty").number(sampling.presence);
  writer.key("frequency_penalty").number(sampling.frequency);
}

}  // namespace ingot::protocol
