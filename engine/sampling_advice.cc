#include "engine/sampling_advice.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ingot {
namespace {

constexpr std::string_view advice_prefix = "general.sampling.";

class AdviceKeys {
 public:
  explicit AdviceKeys(const Metadata& metadata) : metadata_(metadata) {}

  Result<std::optional<double>> number(std::string_view name) const {
    const std::string key = std::string(advice_prefix).append(name);
    if (!metadata_.has(key)) return std::optional<double>();
    return std::optional(TRY(metadata_.number(key)));
  }
  Result<std::optional<std::int64_t>> integer(std::string_view name) const {
    const std::string key = std::string(advice_prefix).append(name);
    if (!metadata_.has(key)) return std::optional<std::int64_t>();
    return std::optional(TRY(metadata_.integer(key)));
  }
  Result<void> require_off(std::string_view name) const {
    const double value = TRY(number(name)).value_or(0);
    if (value == 0) return {};
    return Error::of(ErrorCode::unsupported, advice_prefix, name, ": expected 0, found ", std::to_string(value));
  }

 private:
  const Metadata& metadata_;
};

template <class Number>
void take_advice(const std::optional<Number>& advised, Number& option) {
  if (advised) option = *advised;
}

}  // namespace

Result<SamplingAdvice> read_sampling_advice(const Metadata& metadata) {
  const AdviceKeys keys(metadata);
  TRY(keys.require_off("mirostat"));
  TRY(keys.require_off("xtc_probability"));
  SamplingAdvice advice;
  advice.temperature = TRY(keys.number("temp"));
  advice.top_p = TRY(keys.number("top_p"));
  advice.min_p = TRY(keys.number("min_p"));
  advice.repetition = TRY(keys.number("penalty_repeat"));
  advice.top_k = TRY(keys.integer("top_k"));
  if (advice.top_k) advice.top_k = std::max<std::int64_t>(*advice.top_k, 0);  // below 0 is off, too
  advice.penalty_window = TRY(keys.integer("penalty_last_n"));
  // Below 0: the whole text.
  if (advice.penalty_window && *advice.penalty_window < 0) {
    advice.penalty_window = std::numeric_limits<std::int32_t>::max();
  }
  return advice;
}

void follow(const SamplingAdvice& advice, SamplerOptions& options) {
  take_advice(advice.temperature, options.temperature);
  take_advice(advice.top_p, options.top_p);
  take_advice(advice.min_p, options.min_p);
  take_advice(advice.repetition, options.repetition);
  take_advice(advice.top_k, options.top_k);
  take_advice(advice.penalty_window, options.penalty_window);
}

}  // namespace ingot
