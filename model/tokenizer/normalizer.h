// The steps that change a text before it is split.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/tokenizer/character_map.h"
#include "model/tokenizer/description.h"
#include "model/tokenizer/pattern.h"

namespace ingot {

class Normalizer {
 public:
  static Result<Normalizer> create(std::span<const NormalizerStep> steps);

  bool is_empty() const { return stages_.empty(); }
  std::string run(std::string text) const;

 private:
  struct Stage {
    NormalizerStep step;
    std::optional<Pattern> pattern;
    std::optional<CharacterMap> map;
  };

  static std::string apply(const Stage& stage, std::string text);

  std::vector<Stage> stages_;
};

}  // namespace ingot
