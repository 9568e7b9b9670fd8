// Rows of queries and keys where a head's pairs lie: in halves, as checkpoints have them, or as neighbours, as GGUF
// files of some architectures do.
#pragma once

#include <string_view>

#include "model/template/keys.h"

namespace ingot {

// Where row `row` of a tensor with interleaved heads comes from: row 2i + j of a head was row i of its half j.
constexpr std::int64_t row_before_interleaving(std::int64_t row, std::int64_t rows_per_head) {
  const std::int64_t within = row % rows_per_head;
  return row - within + within % 2 * (rows_per_head / 2) + within / 2;
}

struct TurnedHeads {
  std::int64_t queries = 0;
  std::int64_t keys = 0;

  // In the tensor of this name; 0: its rows do not turn.
  std::int64_t of(std::string_view tensor) const {
    if (tensor.ends_with(".attn_q.weight") || tensor.ends_with(".attn_q.bias")) return queries;
    if (tensor.ends_with(".attn_k.weight") || tensor.ends_with(".attn_k.bias")) return keys;
    return 0;
  }
};

inline Result<TurnedHeads> turned_heads(const Keys& keys) {
  const std::int64_t queries = TRY(keys.size("attention.head_count", most_width));
  return TurnedHeads{.queries = queries, .keys = TRY(keys.size_or("attention.head_count_kv", queries, most_width))};
}

}  // namespace ingot
