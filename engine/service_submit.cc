// How requests come to the service: all choices of one together, or none of them.
#include "engine/service.h"

namespace ingot {

Result<void> Service::check_room(const TextRequest& request) const {
  const std::int64_t prompt = std::ssize(request.prompt), room = this->room();
  if (prompt <= room && request.most_tokens <= room - prompt) return {};
  return Error::of(ErrorCode::out_of_range, "expected at most ", room, " tokens of prompt and answer, ",
                   room < session_.context() ? "which the cache has room for, " : "", "found ", prompt, " and ",
                   request.most_tokens);
}

Result<void> Service::check_queue_holds(std::int64_t choices, std::int64_t tokens) const {
  const WaitingLoad most = waiting_.of_one();
  if (choices > most.requests) {
    return Error::of(ErrorCode::invalid_argument, "expected at most ", most.requests,
                     " choices of all prompts together, as many as may wait, found ", choices);
  }
  // Whoever comes alone may come, however long his prompt is.
  if (choices > 1 && tokens > most.parts) {
    return Error::of(ErrorCode::invalid_argument, "expected at most ", most.parts,
                     " tokens in the prompts of all choices together, as many as may wait, found ", tokens);
  }
  return {};
}

Result<std::int64_t> Service::submit(TextRequest request, std::shared_ptr<GenerationListener> listener) {
  std::vector<TextChoices> one(1);
  one.front().request = std::move(request);
  one.front().listeners.push_back(std::move(listener));
  return submit(std::move(one));
}

Result<std::int64_t> Service::submit(std::vector<TextChoices> requests) {
  std::int64_t choices = 0, tokens = 0;
  for (const TextChoices& each : requests) {
    TRY(check_room(each.request));
    choices += std::ssize(each.listeners);
    tokens += std::ssize(each.listeners) * std::ssize(each.request.prompt);
  }
  TRY(check_queue_holds(choices, tokens));
  const std::int64_t asker = requests.front().request.asker;
  std::vector<std::unique_ptr<Active>> made;
  for (TextChoices& each : requests) TRY(make_active(std::move(each), made));
  const std::lock_guard lock(mutex_);
  TRY(waiting_.check(asker, {choices, tokens}));
  waiting_.add(asker, {choices, tokens});
  const std::int64_t first = next_number_;
  for (std::unique_ptr<Active>& active : made) {
    active->number = next_number_++;
    active->state.admissions_before = admissions_;
    submitted_.push_back(std::move(active));
  }
  bell_.ring();
  return first;
}

}  // namespace ingot
