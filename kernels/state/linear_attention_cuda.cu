#include "kernels/state/linear_attention_cuda.h"

#include "kernels/device/numbers.h"
#include "kernels/device/warp.h"

// Budget of recur_kept_heads: 120 registers. A thread keeps 32 rows of its column, and as many numbers of a key or a
// query are on their way.
namespace ingot::device {
namespace {

// The column of this thread: one of a head's state.
struct StateColumn {
  unsigned batch, head, column;
  unsigned rows;
  bool is_there;
};

INGOT_ON_DEVICE StateColumn column_of(const RecurrentHeads& parameters) {
  const unsigned heads = parameters.final_state.sizes[1];
  const unsigned index = block_index() / parameters.column_tiles;
  const unsigned column = block_index() % parameters.column_tiles * state_columns + lane_index();
  return {index / heads, index % heads, column, parameters.final_state.sizes[2],
          column < parameters.final_state.sizes[3]};
}

INGOT_ON_DEVICE float first_value(const RecurrentHeads& parameters, const StateColumn& at, unsigned row) {
  if (parameters.initial_state.data == nullptr) return 0;
  return parameters.initial_state(at.batch, at.head, row, at.column);
}

// This warp's rows of the column, every eighth, in registers.
struct KeptColumn {
  static constexpr bool is_kept = true;
  float values[kept_state_rows / state_warps];

  INGOT_ON_DEVICE KeptColumn(const RecurrentHeads& parameters, const StateColumn& at) {
    visit(at, [&](unsigned row, float& value) { value = first_value(parameters, at, row); });
  }
  template <class Visit>
  INGOT_ON_DEVICE void visit(const StateColumn& at, Visit&& visit) {
    INGOT_UNROLL
    for (unsigned i = 0; i < kept_state_rows / state_warps; ++i) {
      const unsigned row = i * state_warps + warp_index();
      if (at.is_there && row < at.rows) visit(row, values[i]);
    }
  }
  INGOT_ON_DEVICE void store(const RecurrentHeads& parameters, const StateColumn& at) {
    visit(at, [&](unsigned row, float& value) { parameters.final_state(at.batch, at.head, row, at.column) = value; });
  }
};

// The same rows, where they lie in the end.
struct StoredColumn {
  static constexpr bool is_kept = false;
  float* first;
  std::int64_t step;

  INGOT_ON_DEVICE StoredColumn(const RecurrentHeads& parameters, const StateColumn& at)
      : first(at.is_there ? &parameters.final_state(at.batch, at.head, 0, at.column) : nullptr),
        step(parameters.final_state.strides[2]) {
    visit(at, [&](unsigned row, float& value) { value = first_value(parameters, at, row); });
  }
  template <class Visit>
  INGOT_ON_DEVICE void visit(const StateColumn& at, Visit&& visit) {
    if (!at.is_there) return;
    for (unsigned row = warp_index(); row < at.rows; row += state_warps) visit(row, first[row * step]);
  }
  INGOT_ON_DEVICE void store(const RecurrentHeads&, const StateColumn&) {}
};

// Sums over the warps, a column a lane. Every other one has a place of its own: by the time a place is written again
// all have met once more.
struct ColumnSums {
  unsigned turn = 0;

  INGOT_ON_DEVICE float over_warps(float value) {
    INGOT_SHARED float places[2][state_warps][state_columns];
    turn ^= 1;
    places[turn][warp_index()][lane_index()] = value;
    synchronize_block();
    float sum = places[turn][0][lane_index()];
    for (unsigned warp = 1; warp < state_warps; ++warp) sum = sum + places[turn][warp][lane_index()];
    return sum;
  }
};

// What a token keeps of each row.
class DecayFactors {
 public:
  INGOT_ON_DEVICE DecayFactors(const RecurrentHeads& parameters, const StateColumn& at, unsigned t, bool is_kept)
      : parameters_(parameters), at_(at), t_(t) {
    if (parameters.decay.data == nullptr) return;
    if (parameters.decay.rank == 3) {
      factor_ = exponential(parameters.decay(at.batch, t, at.head));
    } else if (is_kept) {
      // Found once for all columns. Two places, as for sums.
      INGOT_SHARED float factors[2][kept_state_rows];
      const unsigned row = thread_index();
      if (row < at.rows) factors[t % 2][row] = exponential(parameters.decay(at.batch, t, at.head, row));
      synchronize_block();
      shared_ = factors[t % 2];
    } else {
      is_found_anew_ = true;
    }
  }
  INGOT_ON_DEVICE float operator[](unsigned row) const {
    if (shared_ != nullptr) return shared_[row];
    if (is_found_anew_) return exponential(parameters_.decay(at_.batch, t_, at_.head, row));
    return factor_;
  }

 private:
  const RecurrentHeads& parameters_;
  const StateColumn& at_;
  unsigned t_;
  const float* shared_ = nullptr;
  float factor_ = 1;
  bool is_found_anew_ = false;
};

template <class Column>
INGOT_ON_DEVICE void recur(const RecurrentHeads& parameters) {
  const StateColumn at = column_of(parameters);
  Column state(parameters, at);
  ColumnSums sums;
  const bool has_beta = parameters.beta.data != nullptr;
  for (unsigned t = 0; t < parameters.query.sizes[1]; ++t) {
    const float* const key = &parameters.key(at.batch, t, at.head / parameters.states_per_key, 0);
    const DecayFactors factors(parameters, at, t, Column::is_kept);
    float recalled = 0;
    state.visit(at, [&](unsigned row, float& value) {
      value = factors[row] * value;
      recalled = fused_multiply_add(value, key[row], recalled);
    });
    float update = at.is_there ? parameters.value(at.batch, t, at.head, at.column) : 0;
    if (has_beta) update = parameters.beta(at.batch, t, at.head) * (update - sums.over_warps(recalled));
    state.visit(at, [&](unsigned row, float& value) { value = fused_multiply_add(key[row], update, value); });
    for (unsigned shared = 0; shared < parameters.outputs_per_state; ++shared) {
      const unsigned output = at.head * parameters.outputs_per_state + shared;
      const float* const query = &parameters.query(at.batch, t, output / parameters.outputs_per_query, 0);
      float sum = 0;
      state.visit(at, [&](unsigned row, const float& value) { sum = fused_multiply_add(value, query[row], sum); });
      sum = sums.over_warps(sum);
      if (at.is_there && warp_index() == shared % state_warps) {
        parameters.y(at.batch, t, output, at.column) = parameters.scale * sum;
      }
    }
  }
  state.store(parameters, at);
}

}  // namespace

INGOT_DEVICE_FUNCTION(recur_kept_heads, RecurrentHeads, 256) { recur<KeptColumn>(parameters); }

INGOT_DEVICE_FUNCTION(recur_stored_heads, RecurrentHeads, 256) { recur<StoredColumn>(parameters); }

}  // namespace ingot::device
