// A model's numbers under "<prefix>.<suffix>" keys ("llama.block_count"), checked to be usable: finite, and neither
// negative nor absurdly large.
#pragma once

#include <cmath>
#include <string>

#include "model/files/metadata.h"

namespace ingot {

// Far above every model there is, and small enough that products of a few of them cannot overflow.
inline constexpr std::int64_t most_layers = 4096;
inline constexpr std::int64_t most_width = std::int64_t{1} << 24;
inline constexpr std::int64_t most_context = std::int64_t{1} << 30;

class Keys {
 public:
  Keys(const Metadata& metadata, std::string_view prefix) : metadata_(metadata), prefix_(prefix) {}

  std::string key(std::string_view suffix) const { return prefix_ + "." + std::string(suffix); }
  bool has(std::string_view suffix) const { return metadata_.has(key(suffix)); }
  Result<std::int64_t> size(std::string_view suffix, std::int64_t most) const {
    return bounded(suffix, TRY(metadata_.integer(key(suffix))), 1, most);
  }
  Result<std::int64_t> size_or(std::string_view suffix, std::int64_t absent, std::int64_t most) const {
    return bounded(suffix, TRY(metadata_.integer_or(key(suffix), absent)), 0, most);
  }
  Result<double> number_or(std::string_view suffix, double absent) const {
    const double value = TRY(metadata_.number_or(key(suffix), absent));
    if (std::isfinite(value)) return value;
    return Error::of(ErrorCode::invalid_argument, key(suffix), ": expected a finite number, found one that is not");
  }
  Result<std::string_view> text_or(std::string_view suffix, std::string_view absent) const {
    return metadata_.text_or(key(suffix), absent);
  }
  Result<bool> boolean_or(std::string_view suffix, bool absent) const {
    return metadata_.boolean_or(key(suffix), absent);
  }

 private:
  Result<std::int64_t> bounded(std::string_view suffix, std::int64_t value, std::int64_t least,
                               std::int64_t most) const {
    if (value >= least && value <= most) return value;
    return Error::of(ErrorCode::invalid_argument, key(suffix), ": expected ", least, " to ", most, ", found ", value);
  }

  const Metadata& metadata_;
  std::string prefix_;
};

}  // namespace ingot
