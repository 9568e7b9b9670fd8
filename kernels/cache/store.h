// New keys or values into a cache, one operation a layout (see cache_view.h).
//
//   pages[slot(sequences[t], positions[t])][h] = encode(x[t, h])
//
// In f32 numbers are kept, in f16 rounded to nearest even, in q8_0 encoded in blocks of 32 as encode_row does:
// scale = max|x| / 127, kept as f16; code = x / scale (the scale before it was rounded), half away from zero.
//
// C1  pages has shape [P, H, L, D] with L >= 1 and a packed last axis, and is of type f32, f16 or q8_0
// C2  x has shape [T, H, D] with a packed last axis
// C3  sequences and positions have shape [T] and are contiguous; each sequence exists; each position is 0 or more and,
//     but in a ring, below the capacity
// C4  block_table (paged, and optional for a ring) has shape [B, N] with N >= 1; the entries that are used are in [0,
// P) C5  no two rows go to one slot: their order would matter
#pragma once

#include "kernels/cache/cache_view.h"
#include "kernels/contract/contract.h"

namespace ingot {

template <CachePolicy policy>
struct CacheStore {
  static constexpr std::string_view name = policy == CachePolicy::contiguous ? "cache.store_contiguous"
                                           : policy == CachePolicy::ring     ? "cache.store_ring"
                                                                             : "cache.store_paged";
  static constexpr std::string_view equation = "pages[slot(sequences[t], positions[t])][h] = encode(x[t, h])";
  static constexpr Backward backward =
      Backward::none("a cache serves generation; training keeps whole keys and values instead");

  struct Arguments {
    View<const float> x;
    View<const std::int32_t> sequences;
    View<const std::int32_t> positions;
    View<const std::int32_t> block_table;  // not a field where the layout has none
    AnyView pages;

    static constexpr auto fields() {
      const auto common = field_list(input(&Arguments::x, "x"), input(&Arguments::sequences, "sequences"),
                                     input(&Arguments::positions, "positions"), state(&Arguments::pages, "pages"));
      if constexpr (policy == CachePolicy::contiguous)
        return common;
      else if constexpr (policy == CachePolicy::ring) {
        return std::tuple_cat(common, field_list(optional_input(&Arguments::block_table, "block_table")));
      } else {
        return std::tuple_cat(common, field_list(input(&Arguments::block_table, "block_table")));
      }
    }
    CacheView cache() const { return {pages, block_table, policy}; }
    CachePlaces places() const { return {sequences, positions}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CacheStore>> variants();
  static void cases(CaseList<CacheStore>& list);
};

using StoreContiguous = CacheStore<CachePolicy::contiguous>;
using StoreRing = CacheStore<CachePolicy::ring>;
using StorePaged = CacheStore<CachePolicy::paged>;

// Keys and values of the same tokens into the pages of both, which one block table names.
//
// C1 to C5  as in cache.store_paged, for keys and k_pages, and for values and v_pages
struct JointStorePaged {
  static constexpr std::string_view name = "cache.joint_store_paged";
  static constexpr std::string_view equation =
      "(k_pages, v_pages)[slot(sequences[t], positions[t])][h] = "
      "encode((keys, values)[t, h])";
  static constexpr Backward backward = StorePaged::backward;

  struct Arguments {
    View<const float> keys;
    View<const float> values;
    View<const std::int32_t> sequences;
    View<const std::int32_t> positions;
    View<const std::int32_t> block_table;
    AnyView k_pages;
    AnyView v_pages;

    static constexpr auto fields() {
      return field_list(input(&Arguments::keys, "keys"), input(&Arguments::values, "values"),
                        input(&Arguments::sequences, "sequences"), input(&Arguments::positions, "positions"),
                        input(&Arguments::block_table, "block_table"), state(&Arguments::k_pages, "k_pages"),
                        state(&Arguments::v_pages, "v_pages"));
    }
    StorePaged::Arguments of_keys() const { return {keys, sequences, positions, block_table, k_pages}; }
    StorePaged::Arguments of_values() const { return {values, sequences, positions, block_table, v_pages}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<JointStorePaged>> variants();
  static void cases(CaseList<JointStorePaged>& list);
};
extern const Variant<JointStorePaged> joint_store_cuda;
// Its constraints, for operations that store and do more; `keys` names what is stored as keys.
Result<void> check_joint_store(std::string_view operation, const JointStorePaged::Arguments& arguments,
                               std::string_view keys);
void joint_store_reference(const JointStorePaged::Arguments& arguments, Context& context);

void store_rows_reference(const CacheView& cache, const CachePlaces& places, const View<const float>& x);

template <CachePolicy policy>
const SimdEntries<CacheStore<policy>>& cache_store_simd();
template <CachePolicy policy>
const Variant<CacheStore<policy>>& cache_store_cuda();

}  // namespace ingot
