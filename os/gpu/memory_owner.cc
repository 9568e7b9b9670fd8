#include "os/gpu/memory_owner.h"

#include <algorithm>

namespace ingot::os {

namespace {

// Words of somebody who is not trusted: no more of them than there are, and none that a terminal would obey.
Error error_of(accelerator::MemoryAnswer& answer) {
  const std::size_t length = std::min<std::size_t>(answer.text_length, answer.text.size());
  std::replace_if(
      answer.text.begin(), answer.text.end(), [](unsigned char letter) { return letter < ' ' || letter >= 0x7f; }, '?');
  constexpr auto most = static_cast<std::uint32_t>(ErrorCode::would_block);
  auto code = answer.code <= most ? static_cast<ErrorCode>(answer.code) : ErrorCode::corrupt;
  if (code == ErrorCode::input_output) code = ErrorCode::corrupt;  // that one says that the worker is lost
  return Error::of(code, "the accelerator: ", std::string_view(answer.text.data(), length));
}

}  // namespace

MemoryOwner::MemoryOwner(accelerator::SharedWords shared, AcceleratorMachine& machine)
    : machine_(machine),
      packets_(accelerator::memory_writer(shared)),
      answers_(accelerator::memory_answer_reader(shared)),
      watch_(shared) {}

Error MemoryOwner::lost() {
  watch_.give_up();
  return Error::of(ErrorCode::input_output,
                   "expected an accelerator that answers, found it lost: its worker ended, "
                   "stands still or does not keep to the protocol");
}

Result<void> MemoryOwner::give(accelerator::MemoryCode code, const std::array<std::uint64_t, 4>& operands,
                               std::uint32_t flags) {
  const Result<std::uint64_t> room = packets_.room();
  // All former ones were answered.
  if (watch_.is_lost() || !room.ok() || room.value() == 0) return lost();
  packets_.push(accelerator::memory_packet(code, operands, ++last_tag_, flags));
  machine_.ring();
  return {};
}

Result<bool> MemoryOwner::is_answered() {
  const Result<std::uint64_t> waiting = answers_.waiting();
  if (!waiting.ok()) return lost();
  return waiting.value() > 0;
}

Result<std::uint64_t> MemoryOwner::take() {
  accelerator::MemoryAnswer answer = answers_.take();
  if (answer.tag != last_tag_) return lost();
  if (answer.status != accelerator::AnswerStatus::done) return error_of(answer);
  return answer.value;
}

Result<std::uint64_t> MemoryOwner::ask(accelerator::MemoryCode code, const std::array<std::uint64_t, 4>& operands,
                                       std::uint32_t flags) {
  TRY(give(code, operands, flags));
  const Nanoseconds begin = machine_.now();
  while (true) {
    // In this order: what it answered before it ended counts, and a bell behind the look ends the sleep.
    const bool was_lost = watch_.is_lost();
    const std::uint64_t bells = machine_.bells();
    if (TRY(is_answered())) return take();
    const Nanoseconds now = machine_.now();
    if (was_lost || now - begin > longest_wait) return lost();
    watch_.look(now);
    machine_.wait(bells, now + WorkerWatch::look_again);
  }
}

bool MemoryOwner::is_quiet() {
  if (!watch_.is_lost()) return true;
  const Nanoseconds begin = machine_.now();
  while (!watch_.is_gone() && !was_waited_for_) {
    const std::uint64_t bells = machine_.bells();
    const Nanoseconds now = machine_.now();
    if (watch_.is_gone()) break;
    was_waited_for_ = now - begin > WorkerWatch::longest_silence;
    machine_.wait(bells, now + WorkerWatch::look_again);
  }
  return watch_.is_gone();
}

}  // namespace ingot::os
