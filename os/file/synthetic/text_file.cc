#include "os/file/synthetic/text_file.h"

namespace ingot::os {
namespace {

class TextDescription final : public SeekableDescription {
 public:
  TextDescription(Node& node, Allocator& heap, std::uint32_t flags)
      : SeekableDescription(flags), writer(heap), node_(node) {}

  Answer<FileStatus> status() override { return node_->status(); }
  Node* node() override { return node_.get(); }

  TextWriter writer;

 private:
  Answer<std::uint64_t> size() override { return std::uint64_t{TRY(writer.finish()).size()}; }
  Answer<std::size_t> read_bytes_at(Transfer& to, std::uint64_t offset) override {
    const std::string_view text = TRY(writer.finish());
    if (offset >= text.size()) return std::size_t{0};
    return to.give(std::as_bytes(std::span(text.substr(offset))));
  }

  Reference<Node> node_;
};

class TextFile final : public Node {
 public:
  TextFile(Reference<Volume> volume, TextFunction write, TextSubject subject, std::uint32_t permissions)
      : Node(std::move(volume), FileKind::regular), write_(write), subject_(subject), permissions_(permissions) {}

  FileStatus status() override {
    FileStatus status = basic_status(permissions_);
    const Nanoseconds now = volume().now();
    status.times = {now, now, now};
    return status;
  }
  Answer<Reference<FileDescription>> open(std::uint32_t flags) override {
    return open_text(*this, volume().heap(), flags, write_, subject_);
  }

 private:
  TextFunction write_;
  TextSubject subject_;
  std::uint32_t permissions_;
};

}  // namespace

Answer<Reference<Node>> make_text_file(Reference<Volume> volume, TextFunction write, TextSubject subject,
                                       std::uint32_t permissions) {
  Allocator& heap = volume->heap();
  return Reference<Node>(TRY(make_reference<TextFile>(heap, std::move(volume), write, subject, permissions)));
}

Answer<Reference<FileDescription>> open_text(Node& node, Allocator& heap, std::uint32_t flags, TextFunction write,
                                             const TextSubject& subject) {
  if ((flags & open_flag::access_mask) != open_flag::read_only) return Errno::eacces;
  Reference<TextDescription> opened = TRY(make_reference<TextDescription>(heap, node, heap, flags));
  write(opened->writer, subject);
  TRY(opened->writer.finish());
  return Reference<FileDescription>(std::move(opened));
}

Answer<void> add_text_files(MemoryDirectory& directory, std::span<const TextFileRow> rows, TextSubject subject) {
  for (const TextFileRow& row : rows) {
    const Reference<Node> file = TRY(make_text_file(Reference<Volume>(directory.volume()), row.write, subject, 0444));
    TRY(directory.add(row.name, NameStorage::borrowed, *file));
  }
  return {};
}

Answer<Reference<MemoryDirectory>> add_directory(MemoryDirectory& parent, std::string_view name, NameStorage storage) {
  Reference<Volume> volume(parent.volume());
  Reference<MemoryDirectory> made = TRY(make_reference<MemoryDirectory>(volume->heap(), volume, 0555u));
  TRY(parent.add(name, storage, *made));
  return made;
}

}  // namespace ingot::os
