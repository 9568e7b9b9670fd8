// Scalar truth of greedy and categorical.
#include <cmath>
#include <limits>

#include "kernels/sampling/choose.h"
#include "kernels/sampling/weight.h"
#include "tensor/rows.h"

namespace ingot {
namespace {

std::int32_t first_largest(const float* logits, std::int64_t tokens) {
  float largest = -std::numeric_limits<float>::infinity();
  std::int32_t token = sampling::no_token;
  for (std::int64_t i = 0; i < tokens; ++i) {
    if (logits[i] > largest) {  // false for NaN
      largest = logits[i];
      token = static_cast<std::int32_t>(i);
    }
  }
  return token;
}

}  // namespace

std::int32_t sampling::draw_within_block(const float* logits, std::int64_t begin, std::int64_t end, float largest,
                                         double cumulative, double target) {
  std::int64_t last = begin;
  for (std::int64_t i = begin; i < end; ++i) {
    const double own = weight(logits[i], largest);
    cumulative += own;
    if (cumulative > target) return static_cast<std::int32_t>(i);
    if (own > 0) last = i;
  }
  return static_cast<std::int32_t>(last);
}

void greedy_reference(const Greedy::Arguments& arguments, Context&) {
  const Rows logits(arguments.logits);
  for (std::int64_t row = 0; row < logits.count(); ++row) {
    arguments.tokens.data()[row] = first_largest(logits[row], logits.length());
  }
}

void categorical_reference(const Categorical::Arguments& arguments, Context&) {
  const Rows logits(arguments.logits);
  const std::int64_t tokens = logits.length();
  for (std::int64_t row = 0; row < logits.count(); ++row) {
    std::int32_t& token = arguments.tokens.data()[row];
    token = first_largest(logits[row], tokens);
    if (token == sampling::no_token) continue;
    const float largest = logits[row][token];
    auto sum_from = [&](std::int64_t begin) {
      return sampling::block_sum(logits[row] + begin, std::min(sampling::block_tokens, tokens - begin), largest);
    };
    double total = 0;
    for (std::int64_t begin = 0; begin < tokens; begin += sampling::block_tokens) total += sum_from(begin);
    const double target = arguments.uniform.data()[row] * total;
    double before = 0;
    for (std::int64_t begin = 0; begin < tokens; begin += sampling::block_tokens) {
      const double after = before + sum_from(begin);
      if (after > target) {
        const std::int64_t end = std::min(begin + sampling::block_tokens, tokens);
        token = sampling::draw_within_block(logits[row], begin, end, largest, before, target);
        break;
      }
      before = after;
    }
  }
}

}  // namespace ingot
