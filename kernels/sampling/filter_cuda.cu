// Filters. What is kept is described by the last token that is: everything ranked above it, and itself.
#include "kernels/sampling/rows_cuda.h"

#include "kernels/sampling/ranked_device.h"
#include "kernels/sampling/weight.h"

// Budget of find_kth, find_nucleus: 33 KiB shared. A workspace and some words: a row's block is alone on its SM anyway.
namespace ingot::device {
namespace {

constexpr unsigned digits = 256;
constexpr std::uint32_t batch = 2048;  // of ranks that are sorted at once

// 32 KiB: counters of digits, one for each lane so that lanes never wait for each other; or ranks and their weights.
union Workspace {
  std::uint32_t counters[digits * warp_size];
  struct {
    std::int64_t ranks[batch];
    double weights[batch];
  } sorted;
};

// Ranks with the least first, as numbers without a sign.
INGOT_ON_DEVICE std::uint64_t ascending(std::int64_t rank) {
  return static_cast<std::uint64_t>(rank) ^ 0x8000000000000000u;
}

// The `wanted`-th greatest of a row's ranks below `bound`, by a block of 1,024 threads: digit by digit, from the top,
// and only as far as it takes until what shares the digits so far is wanted as a whole. Ranks differ, so there are no
// ties. Precondition: 1 <= wanted, and as many ranks lie below the bound.
INGOT_ON_DEVICE std::int64_t select_rank(Workspace& workspace, const float* logits, std::uint32_t length,
                                         std::int64_t bound, std::uint32_t wanted) {
  INGOT_SHARED std::uint32_t chosen_digit;
  INGOT_SHARED std::uint32_t before_chosen;
  INGOT_SHARED std::uint32_t within_chosen;
  std::uint64_t prefix = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    const std::uint64_t known = shift == 56 ? 0 : ~std::uint64_t{0} << (shift + 8);
    for (std::uint32_t i = thread_index(); i < digits * warp_size; i += thread_count()) workspace.counters[i] = 0;
    synchronize_block();
    for (std::uint32_t token = thread_index(); token < length; token += thread_count()) {
      const std::int64_t rank = rank_of(logits[token], token);
      const std::uint64_t number = ascending(rank);
      if (rank >= bound || (number & known) != prefix) continue;
      atomic_add(workspace.counters + (number >> shift & (digits - 1)) * warp_size + lane_index(), 1u);
    }
    synchronize_block();
    // The greatest digit first: thread t has digit 255 - t.
    std::uint32_t count = 0;
    if (thread_index() < digits) {
      const std::uint32_t* const counters = workspace.counters + (digits - 1 - thread_index()) * warp_size;
      for (unsigned i = 0; i < warp_size; ++i) count += counters[(i + thread_index()) % warp_size];
    }
    const std::uint32_t up_to = block_scan(count).inclusive;
    if (up_to >= wanted && up_to - count < wanted) {
      chosen_digit = digits - 1 - thread_index();
      before_chosen = up_to - count;
      within_chosen = count;
    }
    synchronize_block();
    prefix |= std::uint64_t{chosen_digit} << shift;
    wanted -= before_chosen;
    const bool is_whole = within_chosen == wanted;
    synchronize_block();  // all have read what the next digit overwrites
    if (is_whole) break;
  }
  return static_cast<std::int64_t>(prefix ^ 0x8000000000000000u);
}

// Sorts ranks, the greatest first. Those that are not there are the least there is.
INGOT_ON_DEVICE void sort_batch(std::int64_t (&ranks)[batch]) {
  for (std::uint32_t size = 2; size <= batch; size *= 2) {
    for (std::uint32_t distance = size / 2; distance > 0; distance /= 2) {
      synchronize_block();
      for (std::uint32_t i = thread_index(); i < batch / 2; i += thread_count()) {
        const std::uint32_t low = i / distance * 2 * distance + i % distance;
        const std::uint32_t high = low + distance;
        const bool falls = (low & size) == 0;
        const std::int64_t a = ranks[low];
        const std::int64_t b = ranks[high];
        if ((a < b) == falls) {
          ranks[low] = b;
          ranks[high] = a;
        }
      }
    }
  }
  synchronize_block();
}

INGOT_ON_DEVICE void keep_group(const FilteredRows& parameters, std::uint32_t row, std::uint32_t group,
                                std::int64_t last) {
  const std::uint32_t at = group_floats * group;
  const std::uint32_t length = parameters.y.length;
  float values[group_floats];
  load_group(values, parameters.rows.logits.row(row), at, length, parameters.rows.is_aligned);
  INGOT_UNROLL
  for (unsigned i = 0; i < group_floats; ++i) {
    // NaN is never kept, not even where there is nothing else.
    if (is_nan(values[i]) || rank_of(values[i], at + i) < last) values[i] = -infinity;
  }
  store_group(values, parameters.y.row(row), at, length, parameters.rows.is_aligned);
}

}  // namespace

INGOT_DEVICE_FUNCTION(divide_logits, FilteredRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    float values[group_floats];
    load_group(values, parameters.rows.logits.row(row), group_floats * group, parameters.y.length,
               parameters.rows.is_aligned);
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) values[i] = values[i] / parameters.limit;
    store_group(values, parameters.y.row(row), group_floats * group, parameters.y.length, parameters.rows.is_aligned);
  });
}

// A block a piece of a row, as find_greatest has them.
INGOT_DEVICE_FUNCTION(keep_near_greatest, FilteredRows, 256) {
  const SamplingScratch& scratch = parameters.rows.scratch;
  const std::uint32_t row = block_index() / scratch.pieces;
  const std::uint32_t begin = block_index() % scratch.pieces * sampling_piece;
  const std::uint32_t length = parameters.y.length;
  const std::int64_t greatest = greatest_of(scratch, row);
  const float largest = is_candidate(greatest) ? logit_of(greatest) : -infinity;  // a row may be NaN altogether
  const float* const logits = parameters.rows.logits.row(row);
  float* const y = parameters.y.row(row);
  for (std::uint32_t i = group_floats * thread_index(); i < sampling_piece; i += group_floats * thread_count()) {
    float values[group_floats];
    load_group(values, logits, begin + i, length, parameters.rows.is_aligned);
    INGOT_UNROLL
    for (unsigned j = 0; j < group_floats; ++j) {
      const bool is_kept = values[j] == largest || values[j] - largest >= parameters.limit;
      if (!is_kept) values[j] = -infinity;
    }
    store_group(values, y, begin + i, length, parameters.rows.is_aligned);
  }
}

INGOT_DEVICE_FUNCTION(find_kth, FilteredRows, 1024) {
  INGOT_SHARED Workspace workspace;
  const std::uint32_t length = parameters.y.length;
  const float* const logits = parameters.rows.logits.row(block_index());
  const std::int64_t last =
      parameters.k >= length ? INT64_MIN : select_rank(workspace, logits, length, INT64_MAX, parameters.k);
  if (thread_index() == 0) parameters.last[block_index()] = last;
}

// The last token of the nucleus: batches of ranks in falling order, until their weights reach p of the total. Most
// often the first batch does.
INGOT_DEVICE_FUNCTION(find_nucleus, FilteredRows, 1024) {
  INGOT_SHARED Workspace workspace;
  INGOT_SHARED std::uint32_t collected;
  INGOT_SHARED double sum;
  INGOT_SHARED double target;
  INGOT_SHARED bool is_found;
  const std::uint32_t row = block_index();
  const std::uint32_t length = parameters.y.length;
  const float* const logits = parameters.rows.logits.row(row);
  const SamplingScratch& scratch = parameters.rows.scratch;
  const std::int64_t greatest = greatest_of(scratch, row);
  if (parameters.limit == 1 || !is_candidate(greatest)) {
    if (thread_index() == 0) parameters.last[row] = INT64_MIN;
    return;
  }
  const float largest = logit_of(greatest);
  if (thread_index() == 0) {
    double total = 0;
    for (std::uint32_t block = 0; block < scratch.blocks; ++block) {
      total += scratch.block_sums[std::uint64_t{row} * scratch.blocks + block];
    }
    sum = 0;
    target = static_cast<double>(parameters.limit) * total;
    is_found = false;
  }
  std::int64_t bound = INT64_MAX;
  for (std::uint32_t done = 0; done < length; done += batch) {
    const std::uint32_t wanted = length - done < batch ? length - done : batch;
    const std::int64_t least = select_rank(workspace, logits, length, bound, wanted);
    for (std::uint32_t i = thread_index(); i < batch; i += thread_count()) workspace.sorted.ranks[i] = INT64_MIN;
    if (thread_index() == 0) collected = 0;
    synchronize_block();
    for (std::uint32_t token = thread_index(); token < length; token += thread_count()) {
      const std::int64_t rank = rank_of(logits[token], token);
      if (rank >= least && rank < bound) workspace.sorted.ranks[atomic_add(&collected, 1u)] = rank;
    }
    sort_batch(workspace.sorted.ranks);
    for (std::uint32_t i = thread_index(); i < wanted; i += thread_count()) {
      workspace.sorted.weights[i] = sampling::weight(logits[index_of(workspace.sorted.ranks[i])], largest);
    }
    synchronize_block();
    if (thread_index() == 0) {
      double so_far = sum;
      std::uint32_t i = 0;
      do {
        so_far += workspace.sorted.weights[i++];
      } while (i < wanted && !(so_far >= target));
      sum = so_far;
      is_found = so_far >= target;
      parameters.last[row] = workspace.sorted.ranks[i - 1];
    }
    synchronize_block();
    if (is_found) return;
    bound = least;
  }
}

INGOT_DEVICE_FUNCTION(keep_up_to_last, FilteredRows, 256) {
  parameters.groups.visit(block_index(), thread_index(), [&](std::uint32_t row, std::uint32_t group) {
    keep_group(parameters, row, group, parameters.last[row]);
  });
}

}  // namespace ingot::device
