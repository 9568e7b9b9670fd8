// HeldText: a text that a constraint holds. Which tokens may come next depends on those before alone, so another thread
// finds it out while the pass computes their logits.
//
//   text.begin_mask(masks);           before the pass
//   logits = TRY(session.forward(...));
//   token = TRY(text.choose(sampler, logits, context, constraints));
//   while (const auto forced = text.next_forced(sampler)) ...
//
// Where the grammar leaves no choice the text goes on in the tokenizer's own tokens, which need neither logits nor
// masks. They are found as soon as the token before them is chosen, and wait to be asked for.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/bell.h"
#include "engine/mask_thread.h"
#include "engine/sampler.h"
#include "model/grammar/text_constraint.h"

namespace ingot {

struct Forcing {
  bool is_on = true;                      // else every token is chosen
  std::vector<std::int32_t> chosen = {};  // tokens that come by choice alone, as whoever asked has a say in them
};

class HeldText {
 public:
  using Clock = std::chrono::steady_clock;

  explicit HeldText(std::shared_ptr<const grammar::Constraint> constraint, Forcing forcing = {});

  // From now on the thread uses the text, unless it is known what may come next. `proposed` are tokens of which the
  // next ones may be the first: what may follow them is found out too.
  void begin_mask(MaskThread& thread, std::span<const std::int32_t> proposed = {});
  // Whether it is known then. Precondition: it was begun.
  bool wait_until(Clock::time_point time) const;
  // As soon as it is known, which may be now. The bell must outlive the thread.
  void ring_when_known(Bell& bell);

  // The next token, which is the one that is forced, or one that the constraint allows; it joins the text, and the
  // sampler's history. Fails where there is none. Waits for the thread. Precondition: one is forced, or what may come
  // next was begun.
  Result<std::int32_t> choose(Sampler& sampler, std::span<const float> logits, Context& context,
                              TokenConstraints constraints = {});
  // The next token where it is forced; waits for the thread where forced() has none, and more might be. A number is
  // drawn for it all the same: what is chosen behind it does not depend on whether it was forced or happened to be
  // chosen.
  std::optional<std::int32_t> next_forced(Sampler& sampler);
  // Those that are known to come so.
  const std::deque<std::int32_t>& forced() const;
  // Whether what came satisfies the grammar; and whether nothing but the end is left.
  bool can_end() const;
  bool must_end() const;
  // Whether choose() can go on at once, without another mask and without waiting for the thread.
  bool knows_next() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // with the thread, while it computes
};

}  // namespace ingot
