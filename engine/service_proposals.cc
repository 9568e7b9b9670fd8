// Tokens that are likely to come next. They are computed in one pass with the token before them, and chosen from the
// logits there as if they had not been known: where another one is chosen, what was computed behind it is forgotten.
// Tokens that a grammar forces are part of the text at once, without this; but where it is asked how likely each is,
// they come one behind the other as proposals that are not refused.
#include <algorithm>

#include "engine/service.h"

namespace ingot {
namespace {

// What stands behind the last place, before the end, where these tokens were in this order.
std::span<const std::int32_t> look_up(std::span<const std::int32_t> tokens, std::size_t matched, std::size_t most) {
  if (tokens.size() <= matched) return {};
  const std::span<const std::int32_t> end = tokens.last(matched);
  const std::span<const std::int32_t> before = tokens.first(tokens.size() - 1);
  const auto found = std::ranges::find_end(before, end);
  if (found.empty()) return {};
  const auto behind = static_cast<std::size_t>(found.end() - before.begin());
  return tokens.subspan(behind, std::min(most, tokens.size() - behind));
}

constexpr std::size_t matched_tokens = 3;

}  // namespace

// What was computed for nothing must be forgotten again.
bool Service::can_propose() const { return !session_.sequences().needs_checkpoints(); }

void Service::propose(Active& active) const {
  // What follows from a row is what follows the text: not while some of it is to be computed before.
  const std::int64_t computed = active.state.computed;
  if (!can_propose() || std::ssize(active.generation.tokens()) > computed + 1) return;
  Generation& generation = active.generation;
  // The last token that may come is no part of any pass.
  const std::int64_t left = generation.request().most_tokens - generation.counts().generated - 1;
  const auto at_most = [&](std::int64_t most) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(left, 0, most));
  };
  if (generation.held() != nullptr) {
    const std::deque<std::int32_t>& forced = generation.held()->forced();
    const auto count = static_cast<std::ptrdiff_t>(std::min(forced.size(), at_most(limits_.prompt_outputs)));
    active.proposed.assign(forced.begin(), forced.begin() + count);
    if (!forced.empty()) return;
  }
  // Where a device chooses, it goes ahead without the host.
  if (most_looked_up_ == 0 || session_.chooses_tokens()) return;
  const auto found = look_up(generation.tokens(), matched_tokens, at_most(most_looked_up_));
  active.proposed.assign(found.begin(), found.end());
}

void Service::trim_proposals() {
  std::int64_t proposing = 0, admitted = 0;
  for (const std::unique_ptr<Active>& active : active_) {
    proposing += !active->proposed.empty();
    admitted += active->state.is_admitted;
  }
  if (proposing == 0) return;
  // Each has its row in every pass; what is left of one is shared. A proposal is worth nobody's pages.
  // Each row gives logits.
  const std::int64_t rows =
      std::min(limits_.rows - limits_.least_chunk - admitted, limits_.prompt_outputs - admitted) / proposing;
  const bool has_pages = session_.sequences().whole().free_pages() >= 2 * admitted;
  const auto most = static_cast<std::size_t>(has_pages ? std::max<std::int64_t>(rows, 0) : 0);
  for (const std::unique_ptr<Active>& active : active_) {
    // Those that are computed already wait to be looked at.
    if (active->kept_logits.empty() && active->proposed.size() > most) active->proposed.resize(most);
  }
}

void Service::forget_refused(Active& active, std::int64_t accepted, std::int64_t length) {
  const std::int64_t proposed = std::ssize(active.proposed);
  if (proposed == 0) return;
  active.proposed.clear();
  {
    const std::lock_guard lock(mutex_);
    counts_.proposed_tokens += proposed;
    counts_.accepted_tokens += accepted;
  }
  if (active.state.computed <= length) return;
  active.state.computed = length;
  if (const Result<void> done = session_.sequences().truncate(active.sequence, length); !done.ok()) {
    end(active, GenerationEnd::failed, &done.error());
  }
}

}  // namespace ingot
