#include "engine/queue_bounds.h"

namespace ingot {
namespace {

// Requests or parts of them, of which an asker has `own` of `all` that wait.
bool fits(std::int64_t of_one, std::int64_t all, std::int64_t own, std::int64_t added, bool is_first) {
  const std::int64_t left = 2 * of_one - all - added;
  return left >= 0 && (is_first || own + added <= left);
}

}  // namespace

Result<void> QueueBounds::check(std::int64_t asker, WaitingLoad added) const {
  const auto found = by_asker_.find(asker);
  const WaitingLoad own = found == by_asker_.end() ? WaitingLoad{} : found->second;
  const bool is_first = own.requests == 0 && added.requests == 1;
  if (!fits(of_one_.requests, waiting_.requests, own.requests, added.requests, is_first)) {
    return Error::of(ErrorCode::would_block, "expected a place to wait for ", added.requests, " more, found ",
                     own.requests, " of the same asker and ", waiting_.requests, " of all, where one alone may have ",
                     of_one_.requests);
  }
  // Whoever comes alone may come, however long his prompt is.
  if (waiting_.requests == 0 || fits(of_one_.parts, waiting_.parts, own.parts, added.parts, is_first)) return {};
  return Error::of(ErrorCode::would_block, "expected room for ", added.parts, " tokens or texts to wait, found ",
                   own.parts, " of the same asker and ", waiting_.parts, " of all, where one alone may have ",
                   of_one_.parts);
}

void QueueBounds::add(std::int64_t asker, WaitingLoad added) {
  for (WaitingLoad* load : {&waiting_, &by_asker_[asker]}) {
    load->requests += added.requests;
    load->parts += added.parts;
  }
}

void QueueBounds::remove(std::int64_t asker, WaitingLoad removed) {
  const auto found = by_asker_.find(asker);
  for (WaitingLoad* load : {&waiting_, &found->second}) {
    load->requests -= removed.requests;
    load->parts -= removed.parts;
  }
  if (found->second.requests == 0) by_asker_.erase(found);
}

}  // namespace ingot
