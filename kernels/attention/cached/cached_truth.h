// Scalar truth of attention over a cache: one new token, a position at a time, decoded by the block codec.
#pragma once

#include <vector>

#include "kernels/attention/cached/cached_arguments.h"
#include "kernels/attention/sdpa/sdpa_scores.h"
#include "kernels/attention/softmax/row_softmax.h"
#include "kernels/vector/activation_codes.h"
#include "kernels/vector/half_rows.h"
#include "tensor/block_codec.h"

namespace ingot {

class CachedTruth {
 public:
  explicit CachedTruth(const CachedArguments& arguments) : arguments_(arguments) {}

  // y of a new token, in all heads: the one at that position of the sequence. Position -1 sees nothing.
  void attend(std::int64_t token, std::int64_t sequence, std::int64_t position) {
    const CachedArguments& a = arguments_;
    const KeyRange seen = a.positions_seen(position);
    for (std::int64_t h = 0; h < a.heads(); ++h) {
      const std::int64_t key_head = h / a.head_group();
      round_query(&a.q(token, h, 0));
      scores_.clear();
      for (std::int64_t p = seen.begin; p < seen.end; ++p) {
        decode_token(a.keys(), sequence, p, key_head);
        double dot = 0;
        for (std::size_t d = 0; d < row_.size(); ++d) dot += row_[d] * query_[d];
        const double bias = is_present(a.alibi_slopes) ? a.alibi_slopes(h) * static_cast<double>(position - p) : 0;
        scores_.push_back(bounded_score(a.scale * dot, a.softcap).value - bias);
      }
      const RowSum sum = is_present(a.sinks) ? exponentiate(scores_, a.sinks(h)) : exponentiate(scores_);
      mixed_.assign(static_cast<std::size_t>(a.value_dimensions()), 0.0);
      for (std::int64_t p = seen.begin; p < seen.end; ++p) {
        decode_token(a.values(), sequence, p, key_head);
        const double weight = scores_[static_cast<std::size_t>(p - seen.begin)];
        for (std::size_t d = 0; d < row_.size(); ++d) mixed_[d] += weight * row_[d];
      }
      for (std::size_t d = 0; d < mixed_.size(); ++d) a.y(token, h, d) = static_cast<float>(mixed_[d] * sum.inverse());
    }
  }

 private:
  // The values of one token of one head.
  void decode_token(const ConstCacheView& cache, std::int64_t sequence, std::int64_t position, std::int64_t head) {
    row_.resize(static_cast<std::size_t>(cache.width()));
    decode_row(cache.pages.dtype(), cache.row(cache.slot(sequence, position), head), row_.data(), cache.width());
  }

  // A head's query as it meets keys of their type.
  void round_query(const float* q) {
    const DType keys = arguments_.k_pages.dtype();
    query_.assign(q, q + arguments_.dimensions());
    if (keys == DType::f16) round_to_halves(query_);
    if (keys != DType::q8_0) return;
    constexpr int block = 32;
    std::int8_t codes[block];
    for (std::size_t first = 0; first < query_.size(); first += block) {
      const double scale = encode_activations(q + first, block, codes);
      for (std::size_t i = 0; i < block; ++i) query_[first + i] = scale * codes[i];
    }
  }

  const CachedArguments& arguments_;
  std::vector<float> row_;
  std::vector<double> query_;
  std::vector<double> scores_;
  std::vector<double> mixed_;
};

}  // namespace ingot
