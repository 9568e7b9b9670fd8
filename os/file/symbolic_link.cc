#include "os/file/symbolic_link.h"

#include <algorithm>

namespace ingot::os {
namespace {

class SymbolicLink final : public Node {
 public:
  SymbolicLink(Reference<Volume> volume, std::string_view target, NameStorage storage)
      : Node(std::move(volume), FileKind::symbolic_link),
        target_(target),
        storage_(storage),
        made_(this->volume().now()) {}
  ~SymbolicLink() {
    if (storage_ == NameStorage::copied) volume().heap().free(const_cast<char*>(target_.data()), target_.size(), 1);
  }

  FileStatus status() override {
    FileStatus status = basic_status(0777);
    status.bytes = target_.size();
    status.times = {made_, made_, made_};
    return status;
  }
  // Only open(O_PATH | O_NOFOLLOW) comes here, and is answered by the tree.
  Answer<Reference<FileDescription>> open(std::uint32_t) override { return Errno::eloop; }
  Answer<std::size_t> read_link(std::span<char> text) override {
    const std::size_t letters = std::min(text.size(), target_.size());
    __builtin_memcpy(text.data(), target_.data(), letters);
    return letters;
  }
  Answer<void> set_times(std::optional<Nanoseconds>, std::optional<Nanoseconds>) override {
    return volume().check_writable();
  }
  Answer<void> set_owner(std::optional<std::uint32_t>, std::optional<std::uint32_t>) override {
    return volume().check_writable();
  }

 private:
  std::string_view target_;
  NameStorage storage_;
  Nanoseconds made_;
};

}  // namespace

Answer<Reference<Node>> make_symbolic_link(Reference<Volume> volume, std::string_view target, NameStorage storage) {
  if (target.empty()) return Errno::enoent;
  if (target.size() > most_path_bytes) return Errno::enametoolong;
  Allocator& heap = volume->heap();
  if (storage == NameStorage::copied) {
    char* copy = static_cast<char*>(TRY(heap.allocate(target.size(), 1)));
    __builtin_memcpy(copy, target.data(), target.size());
    target = {copy, target.size()};
  }
  Result<Reference<SymbolicLink>> made = make_reference<SymbolicLink>(heap, std::move(volume), target, storage);
  if (made.ok()) return Reference<Node>(std::move(made).value());
  if (storage == NameStorage::copied) heap.free(const_cast<char*>(target.data()), target.size(), 1);
  return made.error();
}

}  // namespace ingot::os
