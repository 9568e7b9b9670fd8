// How the threads of a team walk a row: several times, from registers but for the first time where the row is short
// enough, from shared memory what registers do not hold, and from memory where it is longer still (it then comes out of
// the second-level cache).
//
//   first(load, take)     load(at) gives what is loaded for the four elements from `at` on; take(loaded, group, at)
//                         makes of it the row's group, and sees it
//   again(load, visit)    load(at) gives the group as take() left it, where the row is not kept; visit(group, at)
//   replace(load, visit)  the same; of a kept row, what visit() leaves in the group stays
//
// Several loads are under way at once, as long as load() has no branch and nothing that waits for what it loads:
// arithmetic belongs into take(). Groups beyond the row's end are visited too: take() must fill them.
#pragma once

#include "kernels/device/groups.h"
#include "kernels/device/row_shapes.h"
#include "kernels/device/teams.h"

namespace ingot::device {

struct LoadedGroup {
  float values[group_floats];
};

// How often a thread loads before it takes what it loaded: four groups, in as many registers as are free.
template <class Loaded>
inline constexpr unsigned loads_under_way = 4 * sizeof(LoadedGroup) / sizeof(Loaded);

template <unsigned Threads, unsigned Groups>
struct KeptRow {
  using Workers = Team<Threads>;
  static constexpr bool is_kept = true;

  float values[Groups][group_floats];

  static INGOT_ON_DEVICE unsigned place(unsigned group) { return group_floats * (group * Threads + Workers::rank()); }

  template <class Load, class Take>
  INGOT_ON_DEVICE void first(Load&& load, Take&& take) {
    using Loaded = decltype(load(0u));
    // All of them where they stay in the registers that they come into; of what is loaded in pairs, few.
    constexpr unsigned under_way =
        sizeof(Loaded) == sizeof(LoadedGroup) || Groups <= 4 ? Groups : loads_under_way<Loaded>;
    static_assert(Groups % under_way == 0);
    Loaded loaded[under_way];
    INGOT_UNROLL
    for (unsigned begin = 0; begin < Groups; begin += under_way) {
      INGOT_UNROLL
      for (unsigned i = 0; i < under_way; ++i) loaded[i] = load(place(begin + i));
      INGOT_UNROLL
      for (unsigned i = 0; i < under_way; ++i) take(loaded[i], values[begin + i], place(begin + i));
    }
  }
  template <class Load, class Visit>
  INGOT_ON_DEVICE void again(Load&&, Visit&& visit) {
    INGOT_UNROLL
    for (unsigned group = 0; group < Groups; ++group) visit(values[group], place(group));
  }
  template <class Load, class Visit>
  INGOT_ON_DEVICE void replace(Load&& load, Visit&& visit) {
    again(load, visit);
  }
};

// The first groups of each thread in registers, the others in the launch's shared memory: 16 bytes a thread and group,
// copied there while the first ones come. A thread reads there what it alone has copied. Sums are taken in the order in
// which a LongRow of as many threads takes them, so that who cannot keep a row has the same bits.
template <unsigned Threads, unsigned Groups>
struct LargeRow {
  using Workers = Team<Threads>;
  static constexpr bool is_kept = true;

  KeptRow<Threads, Groups> kept;
  const float* row;  // at a multiple of 16 bytes
  unsigned length;   // a multiple of four

  INGOT_ON_DEVICE LargeRow(const float* from, unsigned row_length) : row(from), length(row_length) {}

  INGOT_ON_DEVICE unsigned groups() const { return (length + group_floats * Threads - 1) / (group_floats * Threads); }
  static INGOT_ON_DEVICE Words16* shared(unsigned group) {
    return dynamic_shared<Words16>() + (group - Groups) * Threads + Workers::rank();
  }
  static INGOT_ON_DEVICE LoadedGroup loaded(unsigned group) {
    const Words16 words = load16(shared(group));
    LoadedGroup values;
    INGOT_UNROLL
    for (unsigned i = 0; i < group_floats; ++i) values.values[i] = float_of_bits(words.words[i]);
    return values;
  }
  static INGOT_ON_DEVICE void keep(unsigned group, const float (&values)[group_floats]) {
    store16(shared(group), {{bits_of(values[0]), bits_of(values[1]), bits_of(values[2]), bits_of(values[3])}});
  }

  // Precondition: load(at) gives what stands in the row.
  template <class Load, class Take>
  INGOT_ON_DEVICE void first(Load&& load, Take&& take) {
    INGOT_ROLLED
    for (unsigned group = Groups; group < groups(); ++group) {
      const unsigned at = kept.place(group);
      copy_async16(shared(group), row + (at < length ? at : 0), at < length ? 16 : 0);
    }
    commit_copies();
    kept.first(load, take);
    wait_for_copies<0>();
    for (unsigned group = Groups; group < groups(); ++group) {
      float values[group_floats];
      take(loaded(group), values, kept.place(group));
      keep(group, values);
    }
  }
  template <class Load, class Visit>
  INGOT_ON_DEVICE void again(Load&& load, Visit&& visit) {
    visit_all<false>(load, visit);
  }
  template <class Load, class Visit>
  INGOT_ON_DEVICE void replace(Load&& load, Visit&& visit) {
    visit_all<true>(load, visit);
  }

 private:
  template <bool IsReplaced, class Load, class Visit>
  INGOT_ON_DEVICE void visit_all(Load&& load, Visit&& visit) {
    kept.again(load, visit);
    for (unsigned group = Groups; group < groups(); ++group) {
      LoadedGroup group_values = loaded(group);
      visit(group_values.values, kept.place(group));
      if (IsReplaced) keep(group, group_values.values);
    }
  }
};

template <unsigned Threads>
struct LongRow {
  using Workers = Team<Threads>;
  static constexpr bool is_kept = false;

  unsigned length;

  template <class Load, class Take>
  INGOT_ON_DEVICE void first(Load&& load, Take&& take) {
    using Loaded = decltype(load(0u));
    constexpr unsigned under_way = loads_under_way<Loaded>;
    constexpr unsigned step = group_floats * Threads;
    for (unsigned at = group_floats * Workers::rank(); at < length; at += under_way * step) {
      Loaded loaded[under_way];
      INGOT_UNROLL
      for (unsigned i = 0; i < under_way; ++i) loaded[i] = load(at + i * step);
      INGOT_UNROLL
      for (unsigned i = 0; i < under_way; ++i) {
        float group[group_floats];
        if (at + i * step < length) take(loaded[i], group, at + i * step);
      }
    }
  }
  template <class Load, class Visit>
  INGOT_ON_DEVICE void again(Load&& load, Visit&& visit) {
    first(load, [&](LoadedGroup& loaded, float(&)[group_floats], unsigned at) { visit(loaded.values, at); });
  }
  template <class Load, class Visit>
  INGOT_ON_DEVICE void replace(Load&& load, Visit&& visit) {
    again(load, visit);
  }
};

using WarpRow = KeptRow<warp_row.threads, warp_row.groups>;
using BlockRow = KeptRow<block_row.threads, block_row.groups>;
using LargeBlockRow = KeptRow<large_block_row.threads, large_block_row.groups>;
using LargestRow = LargeRow<large_row.threads, large_row.groups>;

// A walk for what seldom happens: one group at a time, from memory, so that the rest of a function pays no registers
// for it. The order is that of the others.
template <class Workers, class Load, class Visit>
INGOT_ON_DEVICE void walk_slowly(unsigned length, Load&& load, Visit&& visit) {
  INGOT_ROLLED
  for (unsigned at = group_floats * Workers::rank(); at < length; at += group_floats * Workers::threads) {
    LoadedGroup loaded = load(at);
    visit(loaded.values, at);
  }
}

}  // namespace ingot::device
