// TextRequest: what is asked of a model that predicts tokens. PreparedRequest: one that was checked, with what its
// choices look up at every token. They hold it together, so that it costs its memory once, however many they are.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/sampler.h"
#include "engine/stop_text.h"
#include "model/tokenizer/tokenizer.h"

namespace ingot {

namespace grammar {
class Constraint;
}

inline constexpr std::int64_t most_likely_tokens = 20;  // that can be asked for

struct TextRequest {
  std::vector<std::int32_t> prompt;
  std::int64_t most_tokens = 0;
  std::int64_t least_tokens = 0;  // before them neither the model nor a stop token ends it: none of these is chosen
  bool ignores_end = false;       // the model never ends it
  SamplerOptions sampling = {};   // the seed is the first choice's; each of the others draws by the next
  std::vector<std::string> stops = {};
  std::vector<std::int32_t> stop_tokens = {};
  std::vector<TokenBias> biases = {};
  // Special tokens that are spelled in the answer, as marks of calls and thoughts are; in order.
  std::vector<std::int32_t> shown_tokens = {};
  // What the answer must keep to, of this tokenizer; null: free text. It ends where nothing but the end is left, also
  // before least_tokens and where the model's end is ignored.
  std::shared_ptr<const grammar::Constraint> constraint = nullptr;
  // How many of the most likely tokens are told beside each that was chosen; nothing: no probabilities at all.
  std::optional<std::int64_t> most_likely = {};
  // Computes all of the prompt, whatever others know of it. No tokens may be asked for then but these.
  bool wants_prompt_probabilities = false;
  bool wants_progress = false;  // how far the prompt is read
  std::int64_t asker = 0;       // whose turn it is (engine/scheduler.h)
  std::uint64_t salt = 0;       // with whom it shares what is computed (engine/prefix_index.h)
  // How much each of the session's adapters counts (engine/adapter.h); empty: what the session's sequences begin with.
  // Whoever has other ones shares nothing with it.
  std::vector<float> adapters = {};
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
};

class PreparedRequest {
 public:
  // Fails where a field is out of its range, or leaves no token to choose. `vocabulary`: how many the model knows.
  static Result<std::shared_ptr<const PreparedRequest>> create(TextRequest request, const Tokenizer& tokenizer,
                                                               std::int64_t vocabulary);

  const TextRequest& asked() const { return asked_; }
  const StopStrings& stops() const { return stops_; }
  // By which the model ends a text, and by which whoever asks does; both in order, none twice.
  std::span<const std::int32_t> ends() const { return all_ends().first(model_ends_); }
  std::span<const std::int32_t> stop_tokens() const { return all_ends().subspan(model_ends_); }
  std::span<const std::int32_t> all_ends() const { return ends_and_stops_; }
  bool is_text_begin() const { return is_text_begin_; }  // the prompt has no text

 private:
  PreparedRequest(TextRequest request, const Tokenizer& tokenizer, std::int64_t vocabulary);
  Result<void> check_choosable(std::int64_t vocabulary) const;

  TextRequest asked_;
  StopStrings stops_;
  std::vector<std::int32_t> ends_and_stops_;
  std::size_t model_ends_ = 0;  // how many of them come first
  bool is_text_begin_;
};

}  // namespace ingot
