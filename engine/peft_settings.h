// PeftSettings: what adapter_config.json says of an adapter in the form of the peft library. Whatever would change what
// the adapter means, and is not computed here, is refused by its name, and so is what is not known.
#pragma once

#include <string_view>
#include <vector>

#include "model/files/metadata.h"

namespace ingot {

class PeftSettings {
 public:
  static Result<PeftSettings> read(std::string_view json);

  // What A and B of a module ("model.layers.0.self_attn.q_proj") are multiplied with. Fails where the rank is not the
  // one that is said of it.
  Result<double> factor(std::string_view module, std::int64_t rank) const;

 private:
  // For modules that end with a name.
  struct Pattern {
    std::string_view ending;
    double value;
  };
  Result<std::vector<Pattern>> read_patterns(std::string_view key) const;
  static double matching(const std::vector<Pattern>& patterns, std::string_view module, double otherwise);

  Metadata json_;
  double alpha_ = 0;
  std::int64_t rank_ = 0;
  bool divides_by_root_ = false;  // of the rank (rsLoRA)
  std::vector<Pattern> ranks_, alphas_;
};

}  // namespace ingot
