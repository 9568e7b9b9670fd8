#include "os/file/directory_description.h"

namespace ingot::os {
namespace {

class PlaceDescription : public FileDescription {
 public:
  PlaceDescription(Node& node, std::uint32_t flags) : FileDescription(flags), node_(node) {}

  Answer<FileStatus> status() override { return node_->status(); }
  Answer<void> synchronize() override { return {}; }
  Node* node() override { return node_.get(); }

 private:
  Reference<Node> node_;
};

class DirectoryDescription final : public PlaceDescription {
 public:
  DirectoryDescription(Directory& directory, std::uint32_t flags)
      : PlaceDescription(directory, flags), directory_(directory) {}

  Answer<std::uint64_t> seek(std::int64_t offset, Whence whence) override {
    const MutexGuard guard(lock_);
    if (whence == Whence::current) offset += static_cast<std::int64_t>(position_);
    if ((whence != Whence::begin && whence != Whence::current) || offset < 0) return Errno::einval;
    position_ = static_cast<std::uint64_t>(offset);
    return position_;
  }

  // 0 is ".", 1 is "..", what the directory calls 0 is 2.
  Answer<void> entries(DirectorySink& sink) override {
    const MutexGuard names(*directory_.volume().services().names);
    const MutexGuard guard(lock_);
    const std::uint64_t parent = directory_.parent() != nullptr ? directory_.parent()->inode() : directory_.inode();
    Remembering remembering(sink, position_);
    if (position_ == 0 && !TRY(remembering.add({".", directory_.inode(), FileKind::directory, 1}))) return {};
    if (position_ == 1 && !TRY(remembering.add({"..", parent, FileKind::directory, 2}))) return {};
    remembering.shift = own_entries;
    return directory_.list(position_ - own_entries, remembering);
  }

 private:
  static constexpr std::uint64_t own_entries = 2;

  // Lets the position follow what the sink took.
  struct Remembering final : DirectorySink {
    Remembering(DirectorySink& to, std::uint64_t& where) : sink(to), position(where) {}
    Answer<bool> add(const Entry& entry) override {
      Entry shifted = entry;
      shifted.next_position += shift;
      const bool taken = TRY(sink.add(shifted));
      if (taken) position = shifted.next_position;
      return taken;
    }
    DirectorySink& sink;
    std::uint64_t& position;
    std::uint64_t shift = 0;
  };

  Answer<std::size_t> read_bytes(Transfer&) override { return Errno::eisdir; }
  Answer<std::size_t> read_bytes_at(Transfer&, std::uint64_t) override { return Errno::eisdir; }

  Directory& directory_;
  Mutex lock_{LockRank::file_position};
  std::uint64_t position_ = 0;
};

}  // namespace

Answer<Reference<FileDescription>> open_directory(Directory& directory, std::uint32_t flags) {
  if ((flags & open_flag::access_mask) != open_flag::read_only) return Errno::eisdir;
  return Reference<FileDescription>(
      TRY(make_reference<DirectoryDescription>(directory.volume().heap(), directory, flags)));
}

namespace {
class BarePlace final : public PlaceDescription {
 public:
  using PlaceDescription::PlaceDescription;
};
}  // namespace

Answer<Reference<FileDescription>> open_place(Node& node, std::uint32_t flags) {
  return Reference<FileDescription>(TRY(make_reference<BarePlace>(node.volume().heap(), node, flags)));
}

}  // namespace ingot::os
