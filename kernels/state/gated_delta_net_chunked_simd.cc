// The gated delta rule, a chunk of tokens at a time (the WY form of a product of rank-one erasures).
//
// Within a chunk, with S_0 its first state ([K, V], as stored), p_i = alpha_0 .. alpha_i and d_ij = alpha_{j+1} ..
// alpha_i, the recurrence unrolls to S_i = p_i S_0 + sum_{j <= i} d_ij key_j u_j^T. The written values u solve a
// triangular system:
//
//   u_i = beta_i (value_i - p_i S_0^T key_i) - sum_{j < i} beta_i d_ij <key_i, key_j> u_j
//   y_i = scale ( p_i S_0^T query_i + sum_{j <= i} d_ij <query_i, key_j> u_j )
//
// Everything that touches S is then a matrix product over the chunk, with the state read and written once a chunk and
// not once a token. Products d_ij are multiplied up row by row: they need no logarithms, so alpha = 0 is no special
// case.
//
// 32 tokens: the products among tokens cost 2 * 32 * (2 K + V) a token beside 6 K V for the state, a quarter more at
// K = V = 128, and a state tile's load and store is spread over 32 multiply-adds.
//
// Short loops over arrays of vectors are unrolled by name: GCC at -O2 would keep the arrays in memory.
#include <algorithm>
#include <cmath>

#include "kernels/state/gated_delta_net.h"
#include "kernels/state/gated_delta_net_chunk.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/state/gated_delta_net_chunked_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of floats in memory.
struct Matrix {
  float* data;
  std::int64_t stride;
  float* row(std::int64_t i) const { return data + i * stride; }
};
struct ConstMatrix {
  const float* data;
  std::int64_t stride;
  const float* row(std::int64_t i) const { return data + i * stride; }
};

// A tile of out = keep * out + left right: `rows` x (`count` vectors), so that a loaded vector serves several rows.
template <class D, int rows, int count>
HWY_INLINE void multiply_tile(D d, ConstMatrix left, ConstMatrix right, std::int64_t depth, float keep, Matrix out) {
  using V = hn::Vec<D>;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  V sum[rows][count];
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int part = 0; part < count; ++part) {
      sum[i][part] = keep == 0 ? hn::Zero(d) : hn::Mul(hn::Set(d, keep), hn::LoadU(d, out.row(i) + part * lanes));
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    V loaded[count];
#pragma GCC unroll 4
    for (int part = 0; part < count; ++part) loaded[part] = hn::LoadU(d, right.row(k) + part * lanes);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const V factor = hn::Set(d, left.row(i)[k]);
#pragma GCC unroll 4
      for (int part = 0; part < count; ++part) sum[i][part] = hn::MulAdd(factor, loaded[part], sum[i][part]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int part = 0; part < count; ++part) hn::StoreU(sum[i][part], d, out.row(i) + part * lanes);
  }
}

// The columns [column, column + count * lanes) of all rows.
template <class D, int count>
void multiply_columns(D d, ConstMatrix left, ConstMatrix right, std::int64_t height, std::int64_t depth,
                      std::int64_t column, float keep, Matrix out) {
  right.data += column;
  std::int64_t i = 0;
  for (; i + 4 <= height; i += 4) {
    multiply_tile<D, 4, count>(d, {left.row(i), left.stride}, right, depth, keep, {out.row(i) + column, out.stride});
  }
  for (; i < height; ++i) {
    multiply_tile<D, 1, count>(d, {left.row(i), left.stride}, right, depth, keep, {out.row(i) + column, out.stride});
  }
}

// out = keep * out + left right, for left [height, depth] and right [depth, width].
void multiply(ConstMatrix left, ConstMatrix right, std::int64_t height, std::int64_t depth, std::int64_t width,
              float keep, Matrix out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t column = 0;
  for (; column + 2 * lanes <= width; column += 2 * lanes) {
    multiply_columns<decltype(d), 2>(d, left, right, height, depth, column, keep, out);
  }
  for (; column + lanes <= width; column += lanes) {
    multiply_columns<decltype(d), 1>(d, left, right, height, depth, column, keep, out);
  }
  const hn::CappedTag<float, 1> one;
  for (; column < width; ++column) {
    multiply_columns<decltype(one), 1>(one, left, right, height, depth, column, keep, out);
  }
}

// row = sum_j sign * coefficients[j] rows_j + row, over the first `count` rows. A row reads only rows of earlier
// tokens.
template <class D, int parts>
std::int64_t add_rows(D d, const float* coefficients, std::int64_t count, ConstMatrix rows, float sign, float* row,
                      std::int64_t column, std::int64_t width) {
  using V = hn::Vec<D>;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  for (; column + parts * lanes <= width; column += parts * lanes) {
    V sum[parts];
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part) sum[part] = hn::LoadU(d, row + column + part * lanes);
    for (std::int64_t j = 0; j < count; ++j) {
      const V factor = hn::Set(d, sign * coefficients[j]);
#pragma GCC unroll 4
      for (int part = 0; part < parts; ++part) {
        sum[part] = hn::MulAdd(factor, hn::LoadU(d, rows.row(j) + column + part * lanes), sum[part]);
      }
    }
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part) hn::StoreU(sum[part], d, row + column + part * lanes);
  }
  return column;
}

void add_weighted_rows(const float* coefficients, std::int64_t count, ConstMatrix rows, float sign, float* row,
                       std::int64_t width) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  std::int64_t column = add_rows<decltype(d), 4>(d, coefficients, count, rows, sign, row, 0, width);
  column = add_rows<decltype(d), 1>(d, coefficients, count, rows, sign, row, column, width);
  add_rows<decltype(one), 1>(one, coefficients, count, rows, sign, row, column, width);
}

class ChunkedHead {
 public:
  ChunkedHead(const GatedDeltaNet::Arguments& a, std::int64_t batch, std::int64_t head, float* scratch)
      : a_(a),
        sizes_(LinearAttentionSizes::of(a)),
        batch_(batch),
        head_(head),
        memory_(ChunkMemory::at(scratch, sizes_.key_width)),
        state_{&a.final_state(batch, head, 0, 0), a.final_state.stride(2)} {}

  void run() {
    for (std::int64_t i = 0; i < sizes_.key_width; ++i) {
      float* row = state_.row(i);
      if (!is_present(a_.initial_state)) {
        std::fill_n(row, sizes_.value_width, 0.0f);
      } else if (const float* from = &a_.initial_state(batch_, head_, i, 0); from != row) {
        std::copy_n(from, sizes_.value_width, row);
      }
    }
    for (std::int64_t t = 0; t < sizes_.time; t += chunk_tokens) chunk(t, std::min(chunk_tokens, sizes_.time - t));
  }

 private:
  void chunk(std::int64_t t, std::int64_t tokens) {
    const std::int64_t shared = sizes_.key_head(head_);
    const ConstMatrix query = {&a_.query(batch_, t, shared, 0), a_.query.stride(1)};
    const ConstMatrix key = {&a_.key(batch_, t, shared, 0), a_.key.stride(1)};
    const Matrix y = {&a_.y(batch_, t, head_, 0), a_.y.stride(1)};
    const Matrix keys = {memory_.keys, chunk_tokens};
    const Matrix written = {memory_.written, sizes_.value_width};
    const std::int64_t keys_width = sizes_.key_width;
    const std::int64_t values = sizes_.value_width;
    for (std::int64_t k = 0; k < keys_width; ++k) {
      for (std::int64_t j = 0; j < tokens; ++j) keys.row(k)[j] = key.row(j)[k];
      std::fill(keys.row(k) + tokens, keys.row(k) + chunk_tokens, 0.0f);
    }
    const ConstMatrix transposed = {keys.data, keys.stride};
    multiply(key, transposed, tokens, keys_width, chunk_tokens, 0, {memory_.erasing, chunk_tokens});
    multiply(query, transposed, tokens, keys_width, chunk_tokens, 0, {memory_.reading, chunk_tokens});
    multiply(key, {state_.data, state_.stride}, tokens, keys_width, values, 0, written);
    multiply(query, {state_.data, state_.stride}, tokens, keys_width, values, 0, y);
    float whole = 1;  // p_i
    for (std::int64_t i = 0; i < tokens; ++i) {
      const float alpha = std::exp(a_.decay(batch_, t + i, head_));
      const float beta = a_.beta(batch_, t + i, head_);
      whole *= alpha;
      weigh_row(i, alpha, beta);
      const float* value = &a_.value(batch_, t + i, head_, 0);
      for (std::int64_t v = 0; v < values; ++v) {
        written.row(i)[v] = beta * (value[v] - whole * written.row(i)[v]);
        y.row(i)[v] *= a_.scale * whole;
      }
      const ConstMatrix earlier = {written.data, written.stride};
      add_weighted_rows(memory_.erasing + i * chunk_tokens, i, earlier, -1, written.row(i), values);
      add_weighted_rows(memory_.reading + i * chunk_tokens, i + 1, earlier, 1, y.row(i), values);
    }
    // The last row of d weighs what each token leaves behind.
    const float* last = memory_.products + (tokens - 1) * chunk_tokens;
    for (std::int64_t k = 0; k < keys_width; ++k) {
      for (std::int64_t j = 0; j < tokens; ++j) keys.row(k)[j] *= last[j];
    }
    multiply(transposed, {written.data, written.stride}, keys_width, tokens, values, whole, state_);
  }

  // Row i of d, and of the two matrices it weighs.
  void weigh_row(std::int64_t i, float alpha, float beta) {
    float* products = memory_.products + i * chunk_tokens;
    for (std::int64_t j = 0; j < i; ++j) products[j] = alpha * (products - chunk_tokens)[j];
    products[i] = 1;
    float* erasing = memory_.erasing + i * chunk_tokens;
    float* reading = memory_.reading + i * chunk_tokens;
    for (std::int64_t j = 0; j <= i; ++j) {
      erasing[j] *= beta * products[j];
      reading[j] *= a_.scale * products[j];
    }
  }

  const GatedDeltaNet::Arguments& a_;
  LinearAttentionSizes sizes_;
  std::int64_t batch_;
  std::int64_t head_;
  ChunkMemory memory_;
  Matrix state_;
};

void gated_delta_net_chunked(const GatedDeltaNet::Arguments& a, Context& context) {
  const auto sizes = LinearAttentionSizes::of(a);
  if (sizes.batch == 0) return;
  auto* scratch = reinterpret_cast<float*>(context.scratch.data());
  const std::int64_t floats = ChunkMemory::floats(sizes.key_width, sizes.value_width);
  context.workers.for_chunks(sizes.batch * sizes.heads, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t task = begin; task < end; ++task) {
      ChunkedHead(a, task / sizes.heads, task % sizes.heads, scratch + worker * floats).run();
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {

const SimdEntries<GatedDeltaNet> gated_delta_net_chunked_simd = INGOT_SIMD_ENTRIES(gated_delta_net_chunked);

std::size_t gated_delta_net_chunked_scratch(const GatedDeltaNet::Arguments& a, int threads) {
  if (a.value.empty()) return 0;
  const std::int64_t floats = ChunkMemory::floats(a.query.size(3), a.value.size(3));
  return static_cast<std::size_t>(threads) * static_cast<std::size_t>(floats) * sizeof(float);
}

}  // namespace ingot
#endif
