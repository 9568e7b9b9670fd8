// From logits to a token (see logits.h for masks, NaN and rows without a candidate).
//
//   greedy       tokens[r] = the first i with the largest logits[r,i]
//   categorical  tokens[r] = the first i whose cumulative probability exceeds uniform[r]
//
// The draw is exact: with weights and sums of blocks as weight.h defines them, and target = uniform total in double,
// the first block whose cumulative sum (block sums added in order) exceeds the target is entered with the sum of the
// blocks before it; its weights are added one by one, and the first token at which the sum exceeds the target is drawn.
// Should rounding keep the sum at or below the target to the block's end, its last token with a weight is drawn.
//
// C1  logits has shape [R, V], 1 <= V < 2^31, with a packed last axis
// C2  tokens has shape [R], contiguous
// C3  categorical: uniform has shape [R], contiguous, each in [0, 1)
#pragma once

#include "kernels/sampling/logits.h"

namespace ingot {

struct Greedy {
  static constexpr std::string_view name = "sampling.greedy";
  static constexpr std::string_view equation = "tokens[r] = argmax_i logits[r,i]";
  static constexpr Backward backward = Backward::none(sampling::no_gradient);

  struct Arguments {
    View<const float> logits;
    View<std::int32_t> tokens;

    static constexpr auto fields() {
      return field_list(input(&Arguments::logits, "logits"), output(&Arguments::tokens, "tokens"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Greedy>> variants();
  static void cases(CaseList<Greedy>& list);
};

struct Categorical {
  static constexpr std::string_view name = "sampling.categorical";
  static constexpr std::string_view equation = "tokens[r] = first i with sum_{j<=i} softmax(logits[r])_j > uniform[r]";
  static constexpr Backward backward = Backward::none(sampling::no_gradient);

  struct Arguments {
    View<const float> logits;
    View<const float> uniform;
    View<std::int32_t> tokens;

    static constexpr auto fields() {
      return field_list(input(&Arguments::logits, "logits"), input(&Arguments::uniform, "uniform"),
                        output(&Arguments::tokens, "tokens"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Categorical>> variants();
  static void cases(CaseList<Categorical>& list);
};

namespace sampling {
// The last step of a draw, inside the block it ends in. Precondition: some token of the block has a weight.
std::int32_t draw_within_block(const float* logits, std::int64_t begin, std::int64_t end, float largest,
                               double cumulative, double target);
}  // namespace sampling

void greedy_reference(const Greedy::Arguments& arguments, Context& context);
extern const SimdEntries<Greedy> greedy_simd;
extern const Variant<Greedy> greedy_cuda;
void categorical_reference(const Categorical::Arguments& arguments, Context& context);
extern const SimdEntries<Categorical> categorical_simd;
extern const Variant<Categorical> categorical_cuda;

}  // namespace ingot
