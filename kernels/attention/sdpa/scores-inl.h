// From raw products to scores, for a tile [key][query]. Included after hwy/highway.h; the guard toggles with each
// target.
#if defined(INGOT_KERNELS_ATTENTION_SDPA_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_KERNELS_ATTENTION_SDPA_SCORES_INL_H_
#undef INGOT_KERNELS_ATTENTION_SDPA_SCORES_INL_H_
#else
#define INGOT_KERNELS_ATTENTION_SDPA_SCORES_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/attention/tiles.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {

// What a tile's rows add to their scores. Lane r belongs to row r of the tile; rows that are not there see everything
// and are never looked at.
struct TileBiases {
  HWY_ALIGN float slopes[row_tile];    // of ALiBi
  HWY_ALIGN float position[row_tile];  // of the query, counted from the tile's first key
  HWY_ALIGN float begin[row_tile];     // of the keys it sees, counted likewise
  HWY_ALIGN float end[row_tile];
  KeyRange ranges[row_tile];
  bool is_ragged = false;  // some row does not see all of the tile's keys
};

inline void fill_slopes(const SdpaInputs& inputs, const RowTile& rows, TileBiases& biases) {
  for (std::int64_t r = 0; r < row_tile; ++r) {
    biases.slopes[r] = is_present(inputs.alibi_slopes) && r < rows.count ? inputs.alibi_slopes(rows.head[r]) : 0.0f;
  }
}

inline void fill_ranges(const SdpaInputs& inputs, const RowTile& rows, std::int64_t first, std::int64_t count,
                        TileBiases& biases) {
  biases.is_ragged = false;
  for (std::int64_t r = 0; r < row_tile; ++r) {
    const bool exists = r < rows.count;
    const KeyRange range = exists ? keys_within(rows.keys[r], first, count) : KeyRange{0, count};
    biases.is_ragged = biases.is_ragged || range.begin > 0 || range.end < count;
    biases.ranges[r] = range;
    biases.begin[r] = static_cast<float>(range.begin);
    biases.end[r] = static_cast<float>(range.end);
    biases.position[r] = exists ? static_cast<float>(inputs.query_offset + rows.query[r] - first) : 0.0f;
  }
}

// Copies the tile's part of the mask to [key][query].
inline void pack_mask(const View<const float>& mask, const RowTile& rows, std::int64_t first, std::int64_t count,
                      float* packed) {
  for (std::int64_t r = 0; r < row_tile; ++r) {
    const float* row = r < rows.count ? &mask(rows.batch, rows.head[r], rows.query[r], first) : nullptr;
    for (std::int64_t k = 0; k < count; ++k) packed[k * row_tile + r] = row != nullptr ? row[k * mask.stride(3)] : 0.0f;
  }
}

// The score of one vector of raw products. steepness, where asked for, is d score / d raw without the scale.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V score_of(D d, V product, const SdpaInputs& inputs, const TileBiases& biases, std::int64_t key,
                      std::int64_t lane, const float* mask, V* steepness = nullptr) {
  namespace hn = hwy::HWY_NAMESPACE;
  auto score = hn::Mul(product, hn::Set(d, inputs.scale));
  if (inputs.softcap > 0) {
    const auto cap = hn::Set(d, inputs.softcap);
    const auto hyperbolic = tanh_of(d, hn::Div(score, cap));
    score = hn::Mul(cap, hyperbolic);
    if (steepness != nullptr) *steepness = hn::NegMulAdd(hyperbolic, hyperbolic, hn::Set(d, 1.0f));
  }
  if (is_present(inputs.alibi_slopes)) {
    const auto distance = hn::Abs(hn::Sub(hn::Load(d, biases.position + lane), hn::Set(d, static_cast<float>(key))));
    score = hn::NegMulAdd(hn::Load(d, biases.slopes + lane), distance, score);
  }
  if (mask != nullptr) score = hn::Add(score, hn::LoadU(d, mask + key * row_tile + lane));
  if (biases.is_ragged) {
    const auto at = hn::Set(d, static_cast<float>(key));
    const auto sees = hn::And(hn::Ge(at, hn::Load(d, biases.begin + lane)), hn::Lt(at, hn::Load(d, biases.end + lane)));
    score = hn::IfThenElse(sees, score, hn::Set(d, -std::numeric_limits<float>::infinity()));
  }
  return score;
}

}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling guard
