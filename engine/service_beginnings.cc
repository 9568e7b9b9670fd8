// What requests of the service begin with: what is known of it, who computes it, and where copies are kept for others.
#include <algorithm>

#include "engine/service.h"

namespace ingot {

bool Service::awaits(const Active& waiting, const Active& other) const {
  // The first page that neither is known nor behind what the other has computed: who is past what they share may have
  // kept nothing there.
  const std::int64_t page = std::max(waiting.state.computed, other.state.computed) / limits_.page_length;
  const std::int64_t usable = std::ssize(waiting.generation.computable_beginning()) / limits_.page_length;
  return page < usable && waiting.beginnings.shares_page(other.beginnings, page);
}

// At every so many tokens; before the end of the prompt, where whoever goes on with it or asks it again begins; and
// where those that wait for it differ from it.
std::int64_t Service::next_checkpoint(const Active& active) const {
  const std::int64_t computed = active.state.computed;
  const std::int64_t distance = session_.checkpoint_distance();
  std::int64_t next = (computed / distance + 1) * distance;
  const auto consider = [&](std::int64_t at) {
    if (at > computed) next = std::min(next, at);
  };
  consider(active.beginnings.pages() * limits_.page_length);
  if (active.state.generates) return next;
  for (const std::unique_ptr<Active>& other : active_) {
    if (other->state.is_admitted || other->number == active.number || !awaits(*other, active)) continue;
    const std::int64_t usable = std::ssize(other->generation.computable_beginning()) / limits_.page_length;
    consider(std::min(other->beginnings.shared_pages(active.beginnings), usable) * limits_.page_length);
  }
  return next;
}

void Service::look_up_beginnings() {
  const SequenceMemory& sequences = session_.sequences();
  const std::uint64_t changes = sequences.known_changes();
  std::vector<const Active*> readers;
  for (const std::unique_ptr<Active>& active : active_) {
    const RequestState& state = active->state;
    if (state.is_admitted && !state.generates && !state.is_paused) readers.push_back(active.get());
  }
  for (const std::unique_ptr<Active>& active : active_) {
    RequestState& state = active->state;
    if (state.is_admitted) continue;
    if (active->looked_up != changes) {
      const KnownBeginning known =
          sequences.known_beginning(active->generation.request().salt, active->generation.computable_beginning());
      state.computed = known.tokens;
      state.pages = known.pages_in_use;
      state.next_page = active->beginnings.name(known.tokens / limits_.page_length);
      active->looked_up = changes;
    }
    state.is_held = std::ranges::any_of(readers, [&](const Active* reader) { return awaits(*active, *reader); });
  }
}

}  // namespace ingot
