#include "kernels/cache/cache_constraints.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace ingot {
namespace {

Result<void> require_place_list(std::string_view operation, std::string_view field,
                                const View<const std::int32_t>& list, std::int64_t count) {
  TRY(require_shape(operation, "C3", field, list, {count}));
  return require_contiguous(operation, "C3", field, list);
}

// What is in the places and in the block table: C3 and C4.
Result<void> require_slots_there(std::string_view operation, const ConstCacheView& cache, const CachePlaces& places) {
  for (std::int64_t i = 0; i < places.count(); ++i) {
    const std::int64_t sequence = places.sequences.data()[i];
    const std::int64_t position = places.positions.data()[i];
    if (sequence < 0 || sequence >= cache.sequences()) {
      return violated(operation, "C3", "expected sequences in [0, ", cache.sequences(), "), found ", sequence, " at ",
                      i);
    }
    // A ring takes any position: it wraps.
    const std::int64_t limit =
        cache.policy == CachePolicy::ring ? std::numeric_limits<std::int64_t>::max() : cache.capacity();
    if (position < 0 || position >= limit) {
      return violated(operation, "C3", "expected positions in [0, ", limit, "), found ", position, " at ", i);
    }
    const CacheSlot slot = cache.slot(sequence, position);
    if (slot.page < 0 || slot.page >= cache.pages.size(0)) {
      return violated(operation, "C4", "expected a page in [0, ", cache.pages.size(0), ") for position ", position,
                      " of sequence ", sequence, ", found ", slot.page);
    }
  }
  return {};
}

}  // namespace

Result<void> require_pages(std::string_view operation, const ConstAnyView& pages) {
  TRY(require_rank(operation, "C1", "pages", pages, 4));
  TRY(require_dtype(operation, "C1", "pages", pages, {DType::f32, DType::f16, DType::q8_0}));
  TRY(require_contiguous_rows(operation, "C1", "pages", pages));
  if (pages.size(2) < 1) {
    return violated(operation, "C1", "expected pages of one token or more, found shape ", pages.shape());
  }
  return {};
}

Result<void> require_places(std::string_view operation, const ConstCacheView& cache, const CachePlaces& places,
                            std::string_view rows_name, const ConstAnyView& rows) {
  TRY(require_pages(operation, cache.pages));
  TRY(require_rank(operation, "C2", rows_name, rows, 3));
  TRY(require_shape(operation, "C2", rows_name, rows, {rows.size(0), cache.heads(), cache.width()}));
  TRY(require_contiguous_rows(operation, "C2", rows_name, rows));
  TRY(require_place_list(operation, "sequences", places.sequences, rows.size(0)));
  TRY(require_place_list(operation, "positions", places.positions, rows.size(0)));
  if (is_present(cache.block_table)) {
    TRY(require_rank(operation, "C4", "block_table", cache.block_table, 2));
    if (cache.block_table.size(1) < 1) {
      return violated(operation, "C4", "expected block_table of one page or more a sequence, found shape ",
                      cache.block_table.shape());
    }
    const Result<std::int64_t> capacity = checked_multiply(cache.block_table.size(1), cache.page_length());
    if (!capacity.ok()) return violated(operation, "C4", capacity.error().text());
  }
  return rows.place().is_host() ? require_slots_there(operation, cache, places) : Result<void>();
}

Result<void> require_distinct_slots(std::string_view operation, const ConstCacheView& cache,
                                    const CachePlaces& places) {
  auto number = [&](std::int64_t index) {
    const CacheSlot slot = places.slot(cache, index);
    return slot.page * cache.page_length() + slot.token;
  };
  // Rows nearly always come in rising order, and then need no list.
  bool rising = true;
  for (std::int64_t i = 1; i < places.count() && rising; ++i) rising = number(i - 1) < number(i);
  if (rising) return {};
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(places.count()));
  for (std::int64_t i = 0; i < places.count(); ++i) numbers[static_cast<std::size_t>(i)] = number(i);
  std::sort(numbers.begin(), numbers.end());
  const auto twin = std::adjacent_find(numbers.begin(), numbers.end());
  if (twin == numbers.end()) return {};
  return violated(operation, "C5", "expected a slot of its own for each row, found two rows for token ",
                  *twin % cache.page_length(), " of page ", *twin / cache.page_length());
}

}  // namespace ingot
