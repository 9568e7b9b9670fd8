// Which format each tensor of a file gets. A file is named after the format
// that most of its tensors have; a few tensors that matter more get more bits,
// by rules that files of these names follow everywhere, so that two programs
// that write a Q4_K_M file agree on what is in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/metadata.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace ingot {

enum class Mix : std::uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k_s,
  q3_k_m,
  q3_k_l,
  q4_k_s,
  q4_k_m,
  q5_k_s,
  q5_k_m,
  q6_k,
  iq4_nl,
  iq4_xs,
  tq1_0,
  tq2_0,
  mxfp4,
  mxfp4_moe,  // experts alone are mxfp4
};

struct TypeMix {
  Mix mix;
  std::string_view name;
  DType base;               // what most tensors get
  std::uint32_t file_type;  // GGUF's general.file_type
};

std::span<const TypeMix> all_type_mixes();
// In any case of letters. Q3_K, Q4_K and Q5_K are the M of their kind.
Result<const TypeMix*> find_type_mix(std::string_view name);

// What the rules look at beside the tensors.
struct MixFacts {
  std::string architecture;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;
  std::int64_t experts = 0;

  std::int64_t heads_per_key_head() const { return key_heads > 0 ? heads / key_heads : 0; }
};
// What the metadata does not say stays 0.
MixFacts read_mix_facts(const Metadata& metadata);

struct NamedShape {
  std::string_view name;
  Shape shape;
};

struct TypeChoice {
  std::optional<DType> dtype;  // none: vectors, norms and small tables keep their numbers
  bool falls_back = false;     // the rules' own choice does not divide the rows
};

enum class MixRules : std::uint8_t {
  usual,
  pure,  // every matrix gets the base format
};

// One choice a tensor, in their order.
std::vector<TypeChoice> choose_types(const TypeMix& mix, const MixFacts& facts, MixRules rules,
                                     std::span<const NamedShape> tensors);

// The number in "blk.17.attn_q.weight"; -1 where there is none.
std::int64_t layer_of(std::string_view tensor_name);

}  // namespace ingot
