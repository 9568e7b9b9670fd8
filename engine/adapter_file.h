// AdapterFile: an adapter as it lies on the disk, whatever its form: pairs of narrow matrices, and what they are
// multiplied with. Which weights there are is for a model to say (engine/adapter.h).
//
//   a .gguf file   general.type adapter, adapter.type lora, adapter.lora.alpha; NAME.lora_a and NAME.lora_b, where NAME
//                  is a weight's in GGUF files
//   a folder       adapter_config.json and adapter_model.safetensors, as the peft library writes them
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/files/gguf.h"
#include "model/files/safetensors.h"

namespace ingot {

struct AdapterPair {
  std::string weight;   // as the file has it: "blk.0.attn_q.weight", "model.layers.0.self_attn.q_proj.weight"
  ConstAnyView first;   // A: [rank, inputs], of a type that products take
  ConstAnyView second;  // B: [outputs, rank]
  double factor = 1;    // no larger than largest_adapter_factor
};

// Of alpha over the rank: far above all that anybody trains, and with any scale a number that f32 holds.
inline constexpr double largest_adapter_factor = 1e6;

class AdapterFile {
 public:
  enum class Form : std::uint8_t { gguf, peft };

  static Result<AdapterFile> open(const std::string& path);

  Form form() const { return form_; }
  // As GGUF files name it; empty in the other form, which does not say.
  std::string_view architecture() const { return architecture_; }
  const std::vector<AdapterPair>& pairs() const { return pairs_; }  // at least one, by name

 private:
  AdapterFile() = default;
  // Of files that are open, whose own errors name them.
  Result<void> read_gguf();
  Result<void> read_peft(std::string_view text);
  // Fails where a tensor has no partner, where ranks differ, and where a factor is of no usable size.
  Result<void> check_pairs() const;

  Form form_ = Form::gguf;
  std::string architecture_;
  // What the pairs view; moving these objects does not move what they hold.
  std::optional<GgufFile> gguf_;
  std::optional<SafetensorsFile> safetensors_;
  StoredTensors tensors_;
  std::vector<AdapterPair> pairs_;
};

}  // namespace ingot
