#include "engine/held_text.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "kernels/sampling/logits.h"

namespace ingot {
namespace {

// A mask allows hardly a token that the text refuses then: this many in a row are no accident.
constexpr std::size_t most_refused = 64;

using Allowed = Result<std::shared_ptr<const grammar::TokenMask>>;

}  // namespace

struct HeldText::Shared {
  Shared(std::shared_ptr<const grammar::Constraint> constraint, Forcing asked)
      : text(std::move(constraint)), forcing(std::move(asked)) {
    std::ranges::sort(forcing.chosen);
    find_forced();
  }

  grammar::TextConstraint text;  // what is forced included; the thread's while it computes, else its owner's
  Forcing forcing;
  std::deque<std::int32_t> forced;  // of the text, what nobody asked for yet; the owner's, and so is this:
  bool has_all_forced = true;       // else more may be forced behind them
  bool can_end = false;             // the text, with them
  bool must_end = false;
  mutable std::mutex mutex;  // of all that follows
  mutable std::condition_variable changed;
  bool is_under_way = false;
  std::deque<Allowed> allowed;        // next, and behind those that are proposed; empty: not known
  std::deque<std::int32_t> proposed;  // one less
  Bell* bell = nullptr;

  template <class IsWanted>
  void compute(const std::vector<std::int32_t>& proposals, IsWanted is_wanted);
  void wait() const;
  // The token has joined the text: what may follow it is known, or nothing is.
  void go_on_by(std::int32_t token);
  // Precondition: the thread does not compute.
  void find_forced();
};

void HeldText::Shared::go_on_by(std::int32_t token) {
  if (!allowed.empty() && !proposed.empty() && proposed.front() == token) {
    allowed.pop_front();
    proposed.pop_front();
  } else {
    allowed.clear();
    proposed.clear();
  }
}

void HeldText::Shared::find_forced() {
  has_all_forced = true;
  if (forcing.is_on) {
    const grammar::TextConstraint::Forced found = text.forced_tokens();
    has_all_forced = found.is_all || found.tokens.empty();
    for (const std::int32_t token : found.tokens) {
      if (std::ranges::binary_search(forcing.chosen, token) || !text.accept(token)) {
        has_all_forced = true;
        break;
      }
      forced.push_back(token);
      go_on_by(token);
    }
  }
  can_end = text.can_end();
  must_end = text.must_end();
}

template <class IsWanted>
void HeldText::Shared::compute(const std::vector<std::int32_t>& proposals, IsWanted is_wanted) {
  std::deque<Allowed> found;
  std::deque<std::int32_t> followed;
  found.push_back(text.allowed());
  grammar::TextConstraint ahead = text;
  for (const std::int32_t token : proposals) {
    if (!is_wanted() || !found.back().ok() || !ahead.accept(token)) break;
    followed.push_back(token);
    found.push_back(ahead.allowed());
  }
  const std::lock_guard lock(mutex);
  allowed = std::move(found);
  proposed = std::move(followed);
  is_under_way = false;
  if (bell != nullptr) bell->ring();
  bell = nullptr;
  changed.notify_all();
}

void HeldText::Shared::wait() const {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return !is_under_way; });
}

HeldText::HeldText(std::shared_ptr<const grammar::Constraint> constraint, Forcing forcing)
    : shared_(std::make_shared<Shared>(std::move(constraint), std::move(forcing))) {}

void HeldText::begin_mask(MaskThread& thread, std::span<const std::int32_t> proposed) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->is_under_way || shared_->must_end) return;
    if (!shared_->allowed.empty() && std::ranges::equal(shared_->proposed, proposed)) return;
    shared_->is_under_way = true;
  }
  // Whoever wanted it may be gone when its turn comes: then nothing is computed, and others need not wait for it.
  thread.run([text = std::weak_ptr(shared_), proposals = std::vector(proposed.begin(), proposed.end())] {
    const std::shared_ptr<Shared> shared = text.lock();
    if (shared != nullptr) shared->compute(proposals, [&] { return shared.use_count() > 1; });
  });
}

bool HeldText::wait_until(Clock::time_point time) const {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_until(lock, time, [this] { return !shared_->is_under_way; });
}

void HeldText::ring_when_known(Bell& bell) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->is_under_way) {
    shared_->bell = &bell;
  } else {
    bell.ring();
  }
}

Result<std::int32_t> HeldText::choose(Sampler& sampler, std::span<const float> logits, Context& context,
                                      TokenConstraints constraints) {
  if (const std::optional<std::int32_t> forced = next_forced(sampler)) return *forced;
  shared_->wait();
  std::deque<Allowed>& allowed = shared_->allowed;
  if (allowed.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected what may come next to be found out before a choice");
  }
  if (!allowed.front().ok()) return allowed.front().error();
  constraints.allowed = allowed.front().value().get();
  std::vector<std::int32_t> forbidden;
  for (std::size_t refused = 0; refused < most_refused; ++refused) {
    const std::int32_t token = TRY(sampler.propose(logits, context, constraints));
    if (token == sampling::no_token) break;
    if (shared_->text.accept(token)) {
      shared_->go_on_by(token);
      shared_->find_forced();
      return sampler.accept(token);
    }
    if (forbidden.empty()) forbidden.assign(constraints.forbidden.begin(), constraints.forbidden.end());
    forbidden.push_back(token);
    constraints.forbidden = forbidden;
  }
  return Error::of(ErrorCode::unsupported,
                   "expected a token that the grammar allows here, and biases and ends that may not come yet leave, "
                   "found none");
}

std::optional<std::int32_t> HeldText::next_forced(Sampler& sampler) {
  std::deque<std::int32_t>& forced = shared_->forced;
  if (forced.empty() && !shared_->has_all_forced) {
    shared_->wait();
    shared_->find_forced();
  }
  if (forced.empty()) return std::nullopt;
  const std::int32_t token = forced.front();
  forced.pop_front();
  static_cast<void>(sampler.next_choice());
  sampler.remember(std::span(&token, 1));
  return token;
}

const std::deque<std::int32_t>& HeldText::forced() const { return shared_->forced; }

bool HeldText::can_end() const { return shared_->forced.empty() && shared_->can_end; }

bool HeldText::must_end() const { return shared_->forced.empty() && shared_->must_end; }

bool HeldText::knows_next() const {
  if (!shared_->forced.empty()) return true;
  const std::lock_guard lock(shared_->mutex);
  return !shared_->is_under_way && !shared_->allowed.empty();
}

}  // namespace ingot
