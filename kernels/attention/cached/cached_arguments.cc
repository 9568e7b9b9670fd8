#include "kernels/attention/cached/cached_arguments.h"

#include "kernels/attention/sdpa/sdpa_inputs.h"

namespace ingot {
namespace {

// What is in lengths and in the table: C6 and C7.
Result<void> check_filled_pages(std::string_view name, const CachedArguments& a) {
  const std::int64_t slots = a.keys().capacity();
  const std::int64_t page_length = a.k_pages.size(2);
  const std::int64_t page_count = a.k_pages.size(0);
  const bool has_table = is_present(a.block_table);
  for (std::int64_t s = 0; s < a.sequences(); ++s) {
    const std::int64_t length = a.lengths(s);
    const bool fits = a.ring ? length == 0 || slots > 0 : length <= slots;
    if (length < 0 || !fits) {
      return violated(name, "C6", "expected a length of 0 or more within ", slots, " slots, found ", length,
                      " for sequence ", s);
    }
    const std::int64_t used = has_table ? divide_rounding_up(std::min(length, slots), page_length) : 0;
    for (std::int64_t page = 0; page < used; ++page) {
      if (a.block_table(s, page) < 0 || a.block_table(s, page) >= page_count) {
        return violated(name, "C7", "expected a page in [0, ", page_count, "), found ",
                        std::int64_t{a.block_table(s, page)}, " at [", s, ", ", page, "] of block_table");
      }
    }
  }
  return {};
}

Result<void> check_table(std::string_view name, const CachedArguments& a, std::int64_t sequences) {
  const std::int64_t page_length = a.k_pages.size(2);
  const std::int64_t page_count = a.k_pages.size(0);
  const bool has_table = is_present(a.block_table);
  TRY(require_shape(name, "C5", "lengths", a.lengths, {sequences}));
  TRY(require_position(name, "C5", "a page length", 1, page_length));
  if (has_table) {
    TRY(require_rank(name, "C5", "block_table", a.block_table, 2));
    TRY(require_shape(name, "C5", "block_table", a.block_table, {sequences, a.block_table.size(1)}));
    TRY(require_position(name, "C5", "a number of pages a sequence", 0, a.block_table.size(1)));
  } else if (page_count < sequences) {
    return violated(name, "C5", "expected a page for each of ", sequences, " sequences, found ", page_count);
  }
  TRY(require_position(name, "C5", "a number of slots", 0, a.keys().capacity()));
  return a.lengths.place().is_host() ? check_filled_pages(name, a) : Result<void>();
}

}  // namespace

Result<void> check_cached_arguments(std::string_view name, const CachedArguments& a, std::int64_t sequences) {
  TRY(require_rank(name, "C1", "q", a.q, 3));
  TRY(require_rank(name, "C2", "k_pages", a.k_pages, 4));
  TRY(require_rank(name, "C2", "v_pages", a.v_pages, 4));
  TRY(require_shape(name, "C2", "k_pages", a.k_pages,
                    {a.k_pages.size(0), a.key_heads(), a.k_pages.size(2), a.q.size(2)}));
  TRY(require_shape(name, "C2", "v_pages", a.v_pages,
                    {a.k_pages.size(0), a.key_heads(), a.k_pages.size(2), a.v_pages.size(3)}));
  for (std::int64_t size : {a.q.size(2), a.v_pages.size(3)}) {
    if (size < 1 || size > head_dimension_limit) {
      return violated(name, "C1", "expected heads of 1 to ", head_dimension_limit, " dimensions, found ", size);
    }
  }
  TRY(require_shape(name, "C1", "y", a.y, {a.q.size(0), a.q.size(1), a.v_pages.size(3)}));
  TRY(require_contiguous_rows(name, "C1", "q", a.q));
  TRY(require_contiguous_rows(name, "C1", "y", a.y));
  TRY(require_contiguous_rows(name, "C2", "k_pages", a.k_pages));
  TRY(require_contiguous_rows(name, "C2", "v_pages", a.v_pages));
  TRY(require_dtype(name, "C3", "k_pages", a.k_pages, {DType::f32, DType::f16, DType::q8_0}));
  TRY(require_dtype(name, "C3", "v_pages", a.v_pages, {DType::f32, DType::f16, DType::q8_0}));
  // An empty view of blocks is well formed whatever its last axis; a row must still be whole blocks.
  if (a.q.size(2) % block_elements(a.k_pages.dtype()) != 0 ||
      a.v_pages.size(3) % block_elements(a.v_pages.dtype()) != 0) {
    return violated(name, "C3", "expected rows of whole blocks, found ", a.q.size(2), " and ", a.v_pages.size(3),
                    " dimensions");
  }
  const std::int64_t heads = a.q.size(1);
  if (a.key_heads() == 0 ? heads != 0 : heads % a.key_heads() != 0) {
    return violated(name, "C4", "expected query heads that are a multiple of ", a.key_heads(), " key heads, found ",
                    heads);
  }
  TRY(check_table(name, a, sequences));
  if (is_present(a.alibi_slopes)) TRY(require_shape(name, "C8", "alibi_slopes", a.alibi_slopes, {heads}));
  if (is_present(a.sinks)) TRY(require_shape(name, "C8", "sinks", a.sinks, {heads}));
  TRY(require_finite(name, "C9", "scale", a.scale));
  TRY(require_finite(name, "C9", "softcap", a.softcap));
  if (a.softcap < 0) return violated(name, "C9", "expected a softcap of 0 or more, found a negative one");
  return require_position(name, "C9", "window", 0, a.window);
}

double cached_operations(const CachedArguments& a, double pairs) {
  const auto dimensions = static_cast<double>(a.dimensions() + a.value_dimensions());
  // Two products a pair, and about 16 operations for its exponential.
  return pairs * static_cast<double>(a.heads()) * (2 * dimensions + 16);
}

double cached_bytes(const CachedArguments& a, double tokens) {
  const std::int64_t row =
      row_bytes(a.k_pages.dtype(), a.dimensions()) + row_bytes(a.v_pages.dtype(), a.value_dimensions());
  return tokens * static_cast<double>(a.key_heads()) * static_cast<double>(row);
}

Tolerance cached_tolerance() {
  return {.epsilons = 48,
          .scale = ErrorScale::tensor,
          .reason =
              "weights of sum 1 mix values that may cancel, and carry the rounding of their scores; measured "
              "against the largest output"};
}

}  // namespace ingot
