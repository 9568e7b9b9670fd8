#include "os/file/synthetic/dev_directory.h"

#include <algorithm>

#include "os/file/symbolic_link.h"

namespace ingot::os {
namespace {

class DeviceFile final : public Node {
 public:
  DeviceFile(Reference<Volume> volume, DeviceOpener& opener, std::uint64_t number, std::uint32_t permissions)
      : Node(std::move(volume), FileKind::character_device),
        opener_(opener),
        number_(number),
        permissions_(permissions),
        made_(this->volume().now()) {}

  FileStatus status() override {
    FileStatus status = basic_status(permissions_);
    status.device_number = number_;
    status.times = {made_, made_, made_};
    return status;
  }
  Answer<Reference<FileDescription>> open(std::uint32_t flags) override { return opener_.open(*this, flags); }
  Answer<void> truncate(std::uint64_t) override { return {}; }

 private:
  DeviceOpener& opener_;
  std::uint64_t number_;
  std::uint32_t permissions_;
  Nanoseconds made_;
};

// The five differ only in what a read gives and what a write says.
enum class Small : std::uint8_t { null, zero, full, random };

class SmallDevice final : public FileDescription {
 public:
  SmallDevice(Node& node, Small kind, RandomSource* random, std::uint32_t flags)
      : FileDescription(flags), node_(node), kind_(kind), random_(random) {}

  Answer<FileStatus> status() override { return node_->status(); }
  Answer<std::uint64_t> seek(std::int64_t, Whence) override { return std::uint64_t{0}; }
  Node* node() override { return node_.get(); }
  Answer<FileMapping> mapping(std::uint64_t, std::uint64_t, Access) override {
    if (kind_ == Small::zero) return FileMapping{};
    return Errno::enodev;
  }

 private:
  Answer<std::size_t> read_bytes(Transfer& to) override {
    if (kind_ == Small::null) return std::size_t{0};
    return kind_ == Small::random ? random_->give(to) : to.give_zeros(to.left());
  }
  Answer<std::size_t> write_bytes(Transfer& from) override {
    if (kind_ == Small::full) return Errno::enospc;
    return static_cast<std::size_t>(from.left());  // nobody looks at the bytes
  }
  Answer<std::size_t> read_bytes_at(Transfer& to, std::uint64_t) override { return read_bytes(to); }
  Answer<std::size_t> write_bytes_at(Transfer& from, std::uint64_t) override { return write_bytes(from); }

  Reference<Node> node_;
  Small kind_;
  RandomSource* random_;
};

class SmallDeviceFile final : public Node {
 public:
  SmallDeviceFile(Reference<Volume> volume, Small kind, std::uint32_t minor, RandomSource* random)
      : Node(std::move(volume), FileKind::character_device), kind_(kind), minor_(minor), random_(random) {}

  FileStatus status() override {
    FileStatus status = basic_status(0666);
    status.device_number = make_device_number(1, minor_);
    return status;
  }
  Answer<Reference<FileDescription>> open(std::uint32_t flags) override {
    return Reference<FileDescription>(TRY(make_reference<SmallDevice>(volume().heap(), *this, kind_, random_, flags)));
  }
  Answer<void> truncate(std::uint64_t) override { return {}; }

 private:
  Small kind_;
  std::uint32_t minor_;
  RandomSource* random_;
};

}  // namespace

Answer<Reference<Node>> make_device_file(Reference<Volume> volume, DeviceOpener& opener, std::uint64_t number,
                                         std::uint32_t permissions) {
  Allocator& heap = volume->heap();
  return Reference<Node>(TRY(make_reference<DeviceFile>(heap, std::move(volume), opener, number, permissions)));
}

Answer<std::size_t> RandomSource::give(Transfer& to) {
  std::size_t done = 0;
  while (to.left() != 0) {
    std::byte part[256];
    const std::size_t wanted = std::min<std::uint64_t>(sizeof(part), to.left());
    fill(std::span(part).first(wanted));
    const Answer<std::size_t> moved = to.give(std::span(part).first(wanted));
    if (!moved.ok() && done == 0) return moved.error();
    if (!moved.ok()) break;
    done += moved.value();
  }
  return done;
}

Answer<void> add_dev_files(MemoryDirectory& directory, RandomSource& random) {
  struct Row {
    std::string_view name;
    Small kind;
    std::uint32_t minor;
  };
  constexpr Row rows[] = {{"null", Small::null, 3},
                          {"zero", Small::zero, 5},
                          {"full", Small::full, 7},
                          {"random", Small::random, 8},
                          {"urandom", Small::random, 9}};
  Reference<Volume> volume(directory.volume());
  for (const Row& row : rows) {
    const Reference<SmallDeviceFile> file =
        TRY(make_reference<SmallDeviceFile>(volume->heap(), volume, row.kind, row.minor, &random));
    TRY(directory.add(row.name, NameStorage::borrowed, *file));
  }
  constexpr std::pair<std::string_view, std::string_view> links[] = {{"fd", "/proc/self/fd"},
                                                                     {"stdin", "/proc/self/fd/0"},
                                                                     {"stdout", "/proc/self/fd/1"},
                                                                     {"stderr", "/proc/self/fd/2"}};
  for (const auto& [name, target] : links) {
    const Reference<Node> link = TRY(make_symbolic_link(volume, target, NameStorage::borrowed));
    TRY(directory.add(name, NameStorage::borrowed, *link));
  }
  return {};
}

}  // namespace ingot::os
