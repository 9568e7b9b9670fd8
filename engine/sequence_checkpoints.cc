#include "engine/sequence_checkpoints.h"

#include <iterator>

namespace ingot {

const std::byte* SequenceCheckpoints::use(std::uint64_t text) {
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return nullptr;
  checkpoints_.splice(checkpoints_.begin(), checkpoints_, found->second);
  return found->second->memory.data();
}

std::byte* SequenceCheckpoints::add(std::uint64_t text) {
  HomeMemory memory;
  if (std::ssize(checkpoints_) < most_) {
    // Where the system has no more, those that are there have to do.
    if (Result<HomeMemory> allocated = home_.allocate(Bytes(bytes_each_)); allocated.ok()) {
      memory = std::move(allocated).value();
    }
  }
  if (memory.data() == nullptr) {
    if (checkpoints_.empty()) return nullptr;
    by_text_.erase(checkpoints_.back().text);
    memory = std::move(checkpoints_.back().memory);
    checkpoints_.pop_back();
  }
  checkpoints_.push_front({text, std::move(memory)});
  by_text_.emplace(text, checkpoints_.begin());
  ++changes_;
  return checkpoints_.front().memory.data();
}

std::size_t SequenceCheckpoints::bytes() const {
  std::size_t bytes = 0;
  for (const Checkpoint& checkpoint : checkpoints_) bytes += checkpoint.memory.size();
  return bytes;
}

}  // namespace ingot
