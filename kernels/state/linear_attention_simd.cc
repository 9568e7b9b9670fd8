// Vector linear attention. A column of S (one value channel) never meets another one, so vectors run along V, a task is
// a few columns of one head for all time, and those columns stay in the first-level cache from token to token.
// Short loops over arrays of vectors are unrolled by name: GCC at -O2 would keep the arrays in memory.
#include <cmath>

#include "kernels/state/gated_delta_net.h"
#include "kernels/state/linear_attention.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/state/linear_attention_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Arguments = LinearAttention::Arguments;

// e^decay for every key channel of one token.
void decay_factors(const Arguments& a, std::int64_t batch, std::int64_t t, std::int64_t head, float* factors) {
  const std::int64_t keys = a.query.size(3);
  if (!is_present(a.decay) || a.decay.rank() == 3) {
    const float factor = is_present(a.decay) ? std::exp(a.decay(batch, t, head)) : 1.0f;
    for (std::int64_t i = 0; i < keys; ++i) factors[i] = factor;
    return;
  }
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* decay = &a.decay(batch, t, head, 0);
  std::int64_t i = 0;
  for (; i + lanes <= keys; i += lanes) hn::StoreU(exp_of(d, hn::LoadU(d, decay + i)), d, factors + i);
  for (; i < keys; ++i) factors[i] = std::exp(decay[i]);
}

// `count` vectors of neighbouring columns of one head, from the first token to the last. Four vectors are four sums in
// flight, which is what an add's latency asks for.
template <class D, int count>
class Columns {
 public:
  using V = hn::Vec<D>;
  static constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  static constexpr std::int64_t width = count * lanes;

  Columns(const Arguments& a, std::int64_t batch, std::int64_t head, std::int64_t column)
      : a_(a),
        sizes_(LinearAttentionSizes::of(a)),
        batch_(batch),
        head_(head),
        column_(column),
        state_(&a.final_state(batch, head, 0, column)),
        row_stride_(a.final_state.stride(2)) {}

  void run(float* factors) const {
    start();
    for (std::int64_t t = 0; t < sizes_.time; ++t) {
      decay_factors(a_, batch_, t, head_, factors);
      step(t, factors);
    }
  }

 private:
  static HWY_INLINE V load(const float* from, int part) { return hn::LoadU(D(), from + part * lanes); }
  static HWY_INLINE void store(V value, float* to, int part) { hn::StoreU(value, D(), to + part * lanes); }
  static HWY_INLINE V all(float value) { return hn::Set(D(), value); }
  float* row(std::int64_t i) const { return state_ + i * row_stride_; }

  void start() const {
    for (std::int64_t i = 0; i < sizes_.key_width; ++i) {
#pragma GCC unroll 4
      for (int part = 0; part < count; ++part) {
        store(is_present(a_.initial_state) ? load(&a_.initial_state(batch_, head_, i, column_), part) : all(0), row(i),
              part);
      }
    }
  }

  void step(std::int64_t t, const float* factors) const {
    const float* key = &a_.key(batch_, t, sizes_.key_head(head_), 0);
    const float* value = &a_.value(batch_, t, head_, column_);
    V update[count];
#pragma GCC unroll 4
    for (int part = 0; part < count; ++part) update[part] = load(value, part);
    if (is_present(a_.beta)) {
      for (std::int64_t i = 0; i < sizes_.key_width; ++i) {
        const V weight = all(factors[i] * key[i]);
#pragma GCC unroll 4
        for (int part = 0; part < count; ++part) update[part] = hn::NegMulAdd(weight, load(row(i), part), update[part]);
      }
      const V beta = all(a_.beta(batch_, t, head_));
#pragma GCC unroll 4
      for (int part = 0; part < count; ++part) update[part] = hn::Mul(beta, update[part]);
    }
    const std::int64_t first_output = head_ * sizes_.outputs_per_state();
    const float* query = &a_.query(batch_, t, sizes_.query_head(first_output), 0);
    V sum[count];
#pragma GCC unroll 4
    for (int part = 0; part < count; ++part) sum[part] = all(0);
    for (std::int64_t i = 0; i < sizes_.key_width; ++i) {
      float* const state = row(i);
      const V factor = all(factors[i]);
      const V weight = all(key[i]);
      const V reader = all(query[i]);
#pragma GCC unroll 4
      for (int part = 0; part < count; ++part) {
        const V next = hn::MulAdd(weight, update[part], hn::Mul(factor, load(state, part)));
        store(next, state, part);
        sum[part] = hn::MulAdd(reader, next, sum[part]);
      }
    }
    write(t, first_output, sum);
    for (std::int64_t shared = 1; shared < sizes_.outputs_per_state(); ++shared) read(t, first_output + shared);
  }

  // A further query of the same state.
  void read(std::int64_t t, std::int64_t output) const {
    const float* query = &a_.query(batch_, t, sizes_.query_head(output), 0);
    V sum[count];
#pragma GCC unroll 4
    for (int part = 0; part < count; ++part) sum[part] = all(0);
    for (std::int64_t i = 0; i < sizes_.key_width; ++i) {
      const V reader = all(query[i]);
#pragma GCC unroll 4
      for (int part = 0; part < count; ++part) sum[part] = hn::MulAdd(reader, load(row(i), part), sum[part]);
    }
    write(t, output, sum);
  }

  void write(std::int64_t t, std::int64_t output, const V (&sum)[count]) const {
    float* y = &a_.y(batch_, t, output, column_);
    const V scale = all(a_.scale);
#pragma GCC unroll 4
    for (int part = 0; part < count; ++part) store(hn::Mul(scale, sum[part]), y, part);
  }

  const Arguments& a_;
  LinearAttentionSizes sizes_;
  std::int64_t batch_;
  std::int64_t head_;
  std::int64_t column_;
  float* state_;
  std::int64_t row_stride_;
};

using Block = Columns<hn::ScalableTag<float>, 4>;
using OneVector = Columns<hn::ScalableTag<float>, 1>;
using OneColumn = Columns<hn::CappedTag<float, 1>, 1>;

void linear_attention(const Arguments& a, Context& context) {
  const auto sizes = LinearAttentionSizes::of(a);
  if (sizes.batch == 0) return;
  const std::int64_t blocks = divide_rounding_up(sizes.value_width, Block::width);
  const std::int64_t heads = sizes.batch * sizes.heads;
  const auto task_bytes = static_cast<std::int64_t>(sizeof(float)) * sizes.key_width * Block::width;
  auto* scratch = reinterpret_cast<float*>(context.scratch.data());
  // Every token passes over the columns again, so that more than one token makes any task worth a chunk.
  const std::int64_t chunk = sizes.time > 1 ? 1 : rows_per_chunk(task_bytes);
  context.workers.for_chunks(heads * blocks, chunk, [&](std::int64_t begin, std::int64_t end, int worker) {
    float* const factors = scratch + worker * sizes.key_width;
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t batch = task / blocks / sizes.heads;
      const std::int64_t head = task / blocks % sizes.heads;
      std::int64_t column = task % blocks * Block::width;
      if (column + Block::width <= sizes.value_width) {
        Block(a, batch, head, column).run(factors);
        continue;
      }
      for (; column + OneVector::width <= sizes.value_width; column += OneVector::width) {
        OneVector(a, batch, head, column).run(factors);
      }
      for (; column < sizes.value_width; ++column) OneColumn(a, batch, head, column).run(factors);
    }
  });
}

void gated_delta_net(const GatedDeltaNet::Arguments& a, Context& context) {
  linear_attention(as_linear_attention(a), context);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<LinearAttention> linear_attention_simd = INGOT_SIMD_ENTRIES(linear_attention);
const SimdEntries<GatedDeltaNet> gated_delta_net_simd = INGOT_SIMD_ENTRIES(gated_delta_net);
}  // namespace ingot
#endif
