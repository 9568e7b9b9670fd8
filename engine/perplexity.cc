#include "engine/perplexity.h"

#include <algorithm>
#include <cmath>

#include "engine/run_with_scratch.h"
#include "engine/session_guards.h"
#include "kernels/contract/run.h"
#include "kernels/loss/cross_entropy.h"

namespace ingot {
namespace {

struct LossSum {
  double losses = 0;
  double squares = 0;
  std::int64_t count = 0;

  void add(double loss) {
    losses += loss;
    squares += loss * loss;
    ++count;
  }
};

// The loss of every row of logits against its target.
Result<void> score(Session& session, View<const float> logits, std::span<const std::int32_t> targets, LossSum& sum) {
  std::vector<float> losses(targets.size());
  const auto rows = static_cast<std::int64_t>(targets.size());
  CrossEntropy::Arguments arguments;
  arguments.logits = logits;
  arguments.targets = View<const std::int32_t>(targets.data(), {rows});
  arguments.reduction = Reduction::none;
  arguments.loss = View<float>(losses.data(), {rows});
  Context context = session.context_for_kernels();
  Memory scratch;
  TRY(run_with_scratch<CrossEntropy>(session.table(), arguments, context, scratch));
  for (const float loss : losses) {
    if (!std::isfinite(loss)) {
      return Error::of(ErrorCode::corrupt, "expected finite losses, found one that is not, at token ", sum.count + 1);
    }
    sum.add(loss);
  }
  return {};
}

}  // namespace

Result<Perplexity> perplexity_of(Session& session, std::span<const std::int32_t> tokens, std::int64_t stride,
                                 const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const auto total = static_cast<std::int64_t>(tokens.size());
  const std::int64_t context = session.context();
  TRY(require_predictions(session.model()));
  if (total < 2) return Error::of(ErrorCode::invalid_argument, "expected at least 2 tokens of text, found ", total);
  if (context < 2) {
    return Error::of(ErrorCode::invalid_argument, "expected a context of at least 2 tokens, found ", context);
  }
  if (stride == 0) stride = context / 2;
  if (stride < 1 || stride >= context) {
    return Error::of(ErrorCode::invalid_argument, "expected a stride of 1 to ", context - 1, ", found ", stride);
  }

  Perplexity result;
  LossSum sum;
  std::int64_t next = 1;  // the first token that is not scored yet
  for (std::int64_t begin = 0; next < total; begin += stride) {
    const std::int64_t end = std::min(begin + context, total);
    OwnSequences own(session);
    const int sequence = TRY(own.add());
    ++result.windows;
    // Logits at a position predict the next one; the window's last token is only a target.
    for (std::int64_t from = begin; from < end - 1;) {
      // A chunk at a time: logits of a whole window would be many times the model. Positions are either wanted or not.
      const bool is_scored = from + 1 >= next;
      const std::int64_t limit = is_scored ? end - 1 : std::min(next - 1, end - 1);
      const std::int64_t to = std::min(from + session.options().chunk, limit);
      const auto part = tokens.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
      const View<const float> logits = TRY(session.forward({sequence, part, is_scored ? Wanted::all : Wanted::none}));
      if (is_scored) {
        TRY(score(session, logits, tokens.subspan(static_cast<std::size_t>(from + 1), part.size()), sum));
        if (progress) progress(sum.count, total - 1);
      }
      from = to;
    }
    next = end;
  }
  const auto count = static_cast<double>(sum.count);
  result.scored = sum.count;
  result.mean_loss = sum.losses / count;
  result.value = std::exp(result.mean_loss);
  const double variance = std::max(0.0, sum.squares / count - result.mean_loss * result.mean_loss);
  result.standard_error = std::sqrt(variance / count);
  return result;
}

}  // namespace ingot
