// Vector backward of attention. One task is a head of keys with all query heads of its group: rows pass in tiles, each
// against all tiles of keys, so that scores and their gradients are computed once and live in one tile. dq of a tile of
// rows and dk, dv of the task are gathered in scratch memory; a task owns them, so no sum crosses threads.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/sdpa/sdpa_backward.h"
#include "kernels/attention/tiles.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/sdpa/sdpa_backward_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/attention/sdpa/scores-inl.h"
#include "kernels/attention/tiles-inl.h"

#ifndef INGOT_KERNELS_ATTENTION_SDPA_BACKWARD_MEMORY
#define INGOT_KERNELS_ATTENTION_SDPA_BACKWARD_MEMORY
namespace ingot {
namespace {

// A worker's scratch memory, laid out from the shape alone.
struct BackwardMemory {
  std::int64_t width, value_width;  // padded
  float *queries, *gradients;       // [D][row_tile], [Dv][row_tile]: packed q and dy
  float *query_rows, *gradient_rows;
  float *weights, *dweights, *mask;  // [key_tile][row_tile]
  float *key_rows, *dq;              // [key_tile][width], [row_tile][width]
  float* turned;                     // [D or Dv][key_tile]: keys, then values, as products take them
  float *dk, *dv;                    // [Skv][width], [Skv][value_width]
  std::int64_t floats;

  BackwardMemory(const SdpaInputs& a, float* start)
      : width(padded_width(a.dimensions())), value_width(padded_width(a.value_dimensions())) {
    float* next = start;
    auto take = [&](float*& part, std::int64_t count) {
      part = next;
      if (start != nullptr) next += count;
      floats += count;
    };
    floats = 0;
    take(queries, a.dimensions() * row_tile);
    take(gradients, a.value_dimensions() * row_tile);
    take(query_rows, row_tile * width);
    take(gradient_rows, row_tile * value_width);
    take(weights, key_tile * row_tile);
    take(dweights, key_tile * row_tile);
    take(mask, key_tile * row_tile);
    take(key_rows, key_tile * width);
    take(dq, row_tile * width);
    take(turned, std::max(a.dimensions(), a.value_dimensions()) * key_tile);
    take(dk, a.keys() * width);
    take(dv, a.keys() * value_width);
  }
};

}  // namespace
}  // namespace ingot
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

struct RowGradients {
  HWY_ALIGN float log_sum_exp[row_tile];
  HWY_ALIGN float delta[row_tile];
};

// delta and log_sum_exp of each row, and what the sinks get of it. A row without weights sees nothing from here on.
void start_rows(const SdpaBackward::Arguments& a, RowTile& rows, RowGradients& gradients, double* dsinks) {
  for (std::int64_t r = 0; r < row_tile; ++r) {
    gradients.log_sum_exp[r] = 0;
    gradients.delta[r] = 0;
    if (r >= rows.count) continue;
    const float log_sum_exp = a.log_sum_exp(rows.batch, rows.head[r], rows.query[r]);
    if (log_sum_exp == minus_infinity) {
      rows.keys[r] = {};
      continue;
    }
    const float* y = &a.y(rows.batch, rows.head[r], rows.query[r], 0);
    const float* dy = &a.dy(rows.batch, rows.head[r], rows.query[r], 0);
    double delta = 0;
    for (std::int64_t d = 0; d < a.value_dimensions(); ++d) delta += double{dy[d]} * y[d];
    gradients.log_sum_exp[r] = log_sum_exp;
    gradients.delta[r] = static_cast<float>(delta);
    if (dsinks != nullptr) dsinks[rows.head[r]] -= std::exp(double{a.sinks(rows.head[r])} - log_sum_exp) * delta;
  }
}

// products -> weights, and products of dy and v -> the gradient of the raw scores, scale included.
void differentiate_tile(const SdpaInputs& a, const TileBiases& biases, const RowGradients& gradients, const float* mask,
                        std::int64_t keys, std::int64_t vectors, float* weights, float* dweights) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t lane = 0; lane < vectors * lanes; lane += lanes) {
    const auto log_sum_exp = hn::Load(d, gradients.log_sum_exp + lane);
    const auto delta = hn::Load(d, gradients.delta + lane);
    for (std::int64_t key = 0; key < keys; ++key) {
      const std::int64_t at = key * row_tile + lane;
      auto steepness = hn::Set(d, 1.0f);
      const auto score = score_of(d, hn::LoadU(d, weights + at), a, biases, key, lane, mask, &steepness);
      const auto weight = exp_of(d, hn::Sub(score, log_sum_exp));
      const auto difference = hn::Sub(hn::LoadU(d, dweights + at), delta);
      const auto scaled = hn::Mul(hn::Mul(weight, hn::Set(d, a.scale)), steepness);
      hn::StoreU(weight, d, weights + at);
      hn::StoreU(hn::Mul(scaled, difference), d, dweights + at);
    }
  }
}

// Which of the rows [begin, end) see each of the tile's keys. Queries stand in order, so that these are ranges too.
// Precondition: each of the rows sees some key.
void transpose_ranges(const KeyRange* ranges, KeyRange rows, std::int64_t keys, KeyRange* rows_of_key) {
  KeyRange seeing{rows.begin, rows.begin};
  for (std::int64_t key = 0; key < keys; ++key) {
    while (seeing.begin < rows.end && ranges[seeing.begin].end <= key) ++seeing.begin;
    while (seeing.end < rows.end && ranges[seeing.end].begin <= key) ++seeing.end;
    rows_of_key[key] = {seeing.begin, std::max(seeing.begin, seeing.end)};
  }
}

// sums[key] += sum_r weights[key][r] rows[r], over the rows that see the key.
void add_to_keys(const float* weights, const TileBiases& biases, std::int64_t row_count, std::int64_t keys,
                 const float* rows, std::int64_t width, float* sums) {
  const std::int64_t vectors = width / static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  auto sees_none = [&](std::int64_t r) { return biases.ranges[r].begin == biases.ranges[r].end; };
  KeyRange rows_of_key[key_tile];
  for (std::int64_t r = 0; r < row_count;) {
    KeyRange some{r, r};
    while (some.end < row_count && !sees_none(some.end)) ++some.end;
    r = some.end + 1;
    if (some.begin == some.end) continue;
    transpose_ranges(biases.ranges, some, keys, rows_of_key);
    mix_ranges({weights, row_tile, 1}, rows_of_key, keys, rows, width, sums, width, vectors);
  }
}

void differentiate_rows(const SdpaBackward::Arguments& a, const View<const float>& mask, RowTile& rows,
                        const BackwardMemory& memory, double* dsinks) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  const std::int64_t row_vectors = divide_rounding_up(rows.count, lanes);
  RowGradients gradients;
  TileBiases biases;
  start_rows(a, rows, gradients, dsinks);
  fill_slopes(a, rows, biases);
  pack_rows(a.q, rows, memory.queries);
  pack_rows(a.dy, rows, memory.gradients);
  copy_rows(a.q, rows, memory.query_rows);
  copy_rows(a.dy, rows, memory.gradient_rows);
  std::fill_n(memory.dq, row_tile * memory.width, 0.0f);
  for (std::int64_t first = rows.any.begin; first < rows.any.end; first += key_tile) {
    const std::int64_t count = std::min(key_tile, rows.any.end - first);
    fill_ranges(a, rows, first, count, biases);
    auto products = [&](const View<const float>& view, const float* packed, float* to) {
      const WholeRows rows_of_view{&view(rows.batch, rows.key_head, first, 0), view.stride(2)};
      const std::int64_t width = view.size(3);
      dot_tile(keys_for_products(rows_of_view, count, width, memory.turned), count, width, packed, row_vectors, to);
    };
    products(a.k, memory.queries, memory.weights);
    products(a.v, memory.gradients, memory.dweights);
    if (is_present(a.mask)) pack_mask(mask, rows, first, count, memory.mask);
    differentiate_tile(a, biases, gradients, is_present(a.mask) ? memory.mask : nullptr, count, row_vectors,
                       memory.weights, memory.dweights);
    const WholeRows keys = whole_rows(a.k, rows, first, count, lanes, memory.key_rows);
    mix_ranges({memory.dweights, 1, row_tile}, biases.ranges, rows.count, keys.data, keys.stride, memory.dq,
               memory.width, divide_rounding_up(a.dimensions(), lanes));
    add_to_keys(memory.weights, biases, rows.count, count, memory.gradient_rows, memory.value_width,
                memory.dv + first * memory.value_width);
    add_to_keys(memory.dweights, biases, rows.count, count, memory.query_rows, memory.width,
                memory.dk + first * memory.width);
  }
  for (std::int64_t r = 0; r < rows.count; ++r) {
    std::copy_n(memory.dq + r * memory.width, a.dimensions(), &a.dq(rows.batch, rows.head[r], rows.query[r], 0));
  }
}

void sdpa_backward(const SdpaBackward::Arguments& a, Context& context) {
  if (a.dk.empty() && a.dq.empty() && !is_present(a.dsinks)) return;
  const View<const float> mask = a.repeated_mask();
  auto* sums = reinterpret_cast<double*>(context.scratch.data());  // of dsinks, [B][Hq]
  const std::int64_t sum_count = is_present(a.dsinks) ? a.batches() * a.heads() : 0;
  std::fill_n(sums, sum_count, 0.0);
  auto* start = reinterpret_cast<float*>(sums + padded_width(sum_count));
  const std::int64_t floats = BackwardMemory(a, nullptr).floats;
  context.workers.for_chunks(a.batches() * a.key_heads(), 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    const BackwardMemory memory(a, start + worker * floats);
    RowTile rows;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t batch = task / a.key_heads();
      const std::int64_t key_head = task % a.key_heads();
      std::fill_n(memory.dk, a.keys() * memory.width, 0.0f);
      std::fill_n(memory.dv, a.keys() * memory.value_width, 0.0f);
      for (std::int64_t tile = 0; tile < row_tiles_per_key_head(a); ++tile) {
        fill_row_tile(a, batch, key_head, tile, rows);
        differentiate_rows(a, mask, rows, memory, sum_count > 0 ? sums + batch * a.heads() : nullptr);
      }
      for (std::int64_t key = 0; key < a.keys(); ++key) {
        std::copy_n(memory.dk + key * memory.width, a.dimensions(), &a.dk(batch, key_head, key, 0));
        std::copy_n(memory.dv + key * memory.value_width, a.value_dimensions(), &a.dv(batch, key_head, key, 0));
      }
    }
  });
  for (std::int64_t h = 0; h < a.heads() && sum_count > 0; ++h) {
    double sum = 0;
    for (std::int64_t b = 0; b < a.batches(); ++b) sum += sums[b * a.heads() + h];
    a.dsinks(h) = static_cast<float>(sum);
  }
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<SdpaBackward> sdpa_backward_simd = INGOT_SIMD_ENTRIES(sdpa_backward);

std::size_t sdpa_backward_scratch_bytes(const SdpaBackward::Arguments& a, int threads) {
  const std::int64_t sums = is_present(a.dsinks) ? padded_width(a.batches() * a.heads()) : 0;
  const std::int64_t floats = threads * BackwardMemory(a, nullptr).floats;
  return static_cast<std::size_t>(sums) * sizeof(double) + static_cast<std::size_t>(floats) * sizeof(float);
}
}  // namespace ingot
#endif
