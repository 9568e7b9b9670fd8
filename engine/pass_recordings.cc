#include "engine/pass_recordings.h"

#include <algorithm>
#include <chrono>

namespace ingot {
namespace {

// Each holds memory of the driver's, and which ones come again changes slowly.
constexpr std::size_t most_recordings = 12;

}  // namespace

Result<void> PassRecordings::run(PassKind kind, const std::function<Result<void>()>& give) {
  const auto found = std::ranges::find_if(passes_, [&](const Pass& pass) { return pass.kind == kind; });
  if (found == passes_.end()) {
    if (passes_.size() == most_recordings) passes_.pop_back();
    passes_.push_front({std::move(kind), nullptr});
    return give();
  }
  passes_.splice(passes_.begin(), passes_, found);
  std::unique_ptr<Recording>& recording = passes_.front().recording;
  if (recording == nullptr) {
    const auto begin = std::chrono::steady_clock::now();
    TRY(queue_->begin_recording());
    const Result<void> given = give();
    Result<std::unique_ptr<Recording>> made = queue_->end_recording();
    TRY(given);
    recording = TRY(std::move(made));
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  queue_->name_step("a pass that was recorded");
  queue_->replay(*recording);
  return {};
}

void PassRecordings::forget(const Plan& plan) {
  passes_.remove_if([&](const Pass& pass) { return pass.kind.plan == &plan; });
}

}  // namespace ingot
