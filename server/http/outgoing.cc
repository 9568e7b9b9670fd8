#include "server/http/outgoing.h"

#include <utility>

namespace ingot::http {
namespace {

// Smaller pieces are copied behind what is there: a copy costs less than another part of a system call.
constexpr std::size_t gathered_bytes = 8 << 10;

}  // namespace

void Outgoing::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (parts_.empty() || parts_.back().size() >= gathered_bytes) parts_.emplace_back();
  parts_.back().append(bytes);
  size_ += bytes.size();
}

void Outgoing::take(std::string bytes) {
  if (bytes.size() < gathered_bytes) return append(bytes);
  size_ += bytes.size();
  parts_.push_back(std::move(bytes));
}

std::size_t Outgoing::parts(std::span<iovec> into) {
  std::size_t filled = 0;
  for (std::size_t index = first_; index < parts_.size() && filled < into.size(); ++index) {
    const std::size_t removed = filled == 0 ? removed_ : 0;
    into[filled++] = {parts_[index].data() + removed, parts_[index].size() - removed};
  }
  return filled;
}

void Outgoing::remove(std::size_t count) {
  size_ -= count;
  if (size_ == 0) {
    // Nothing waits on nearly all connections nearly always: then it costs nothing either.
    *this = {};
    return;
  }
  removed_ += count;
  while (removed_ >= parts_[first_].size()) {
    removed_ -= parts_[first_].size();
    parts_[first_++] = {};
  }
  if (first_ * 2 < parts_.size()) return;
  parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

}  // namespace ingot::http
