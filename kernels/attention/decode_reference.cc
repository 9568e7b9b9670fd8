// Scalar truth: a token at a time, decoded by the block codec.
#include "kernels/attention/decode.h"

#include <vector>

#include "kernels/attention/row_softmax.h"
#include "kernels/attention/sdpa_scores.h"
#include "kernels/vector/activation_codes.h"
#include "kernels/vector/half_rows.h"
#include "tensor/block_codec.h"

namespace ingot {
namespace {

// The values of one token of one head.
void decode_token(const ConstCacheView& cache, std::int64_t sequence, std::int64_t position, std::int64_t head,
                  std::vector<float>& values) {
  values.resize(static_cast<std::size_t>(cache.width()));
  decode_row(cache.pages.dtype(), cache.row(cache.slot(sequence, position), head), values.data(), cache.width());
}

// A head's query as it meets keys of that type.
void round_query(DType keys, const float* q, std::vector<double>& query) {
  if (keys == DType::f16) round_to_halves(query);
  if (keys != DType::q8_0) return;
  constexpr int block = 32;
  std::int8_t codes[block];
  for (std::size_t first = 0; first < query.size(); first += block) {
    const double scale = encode_activations(q + first, block, codes);
    for (std::size_t i = 0; i < block; ++i) query[first + i] = scale * codes[i];
  }
}

}  // namespace

void decode_reference(const Decode::Arguments& a, Context&) {
  std::vector<float> row;
  std::vector<double> query;
  std::vector<double> scores;
  std::vector<double> mixed;
  for (std::int64_t b = 0; b < a.q.size(0); ++b) {
    const KeyRange range = a.positions_of(b);
    for (std::int64_t h = 0; h < a.q.size(1); ++h) {
      const std::int64_t key_head = h / a.group();
      query.assign(&a.q(b, h, 0), &a.q(b, h, 0) + a.q.size(2));
      round_query(a.k_pages.dtype(), &a.q(b, h, 0), query);
      scores.clear();
      for (std::int64_t position = range.begin; position < range.end; ++position) {
        decode_token(a.keys(), b, position, key_head, row);
        double dot = 0;
        for (std::size_t d = 0; d < row.size(); ++d) dot += row[d] * query[d];
        const double bias =
            is_present(a.alibi_slopes) ? a.alibi_slopes(h) * static_cast<double>(range.end - 1 - position) : 0;
        scores.push_back(bounded_score(a.scale * dot, a.softcap).value - bias);
      }
      const RowSum sum = is_present(a.sinks) ? exponentiate(scores, a.sinks(h)) : exponentiate(scores);
      mixed.assign(static_cast<std::size_t>(a.y.size(2)), 0.0);
      for (std::int64_t position = range.begin; position < range.end; ++position) {
        decode_token(a.values(), b, position, key_head, row);
        const double weight = scores[static_cast<std::size_t>(position - range.begin)];
        for (std::size_t d = 0; d < row.size(); ++d) mixed[d] += weight * row[d];
      }
      for (std::size_t d = 0; d < mixed.size(); ++d) a.y(b, h, d) = static_cast<float>(mixed[d] * sum.inverse());
    }
  }
}

}  // namespace ingot
