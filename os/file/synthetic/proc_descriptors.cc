// /proc/self/fd: the open files by their numbers, as links that lead to the files themselves.
#include "os/file/directory_description.h"
#include "os/file/synthetic/proc_directory.h"

namespace ingot::os {
namespace {

// What a descriptor has that has no place in the tree: opening it again gives the same description.
class OpenedNode final : public Node {
 public:
  OpenedNode(Reference<Volume> volume, Reference<FileDescription> file, FileKind kind)
      : Node(std::move(volume), kind), file_(std::move(file)) {}

  FileStatus status() override {
    Answer<FileStatus> status = file_->status();
    return status.ok() ? status.value() : FileStatus{};
  }
  Answer<Reference<FileDescription>> open(std::uint32_t) override { return file_; }

 private:
  Reference<FileDescription> file_;
};

class DescriptorLink final : public Node {
 public:
  DescriptorLink(Reference<Volume> volume, Reference<FileDescription> file, FileTree& tree)
      : Node(std::move(volume), FileKind::symbolic_link), file_(std::move(file)), tree_(tree) {}

  FileStatus status() override {
    return basic_status((file_->readable() ? 0500u : 0u) | (file_->writable() ? 0300u : 0u));
  }
  Answer<Reference<FileDescription>> open(std::uint32_t) override { return Errno::eloop; }
  Answer<Reference<Node>> destination() override {
    if (Node* node = file_->node(); node != nullptr) return Reference<Node>(*node);
    const FileKind kind = TRY(file_->status()).kind;
    return Reference<Node>(TRY(make_reference<OpenedNode>(volume().heap(), Reference<Volume>(volume()), file_, kind)));
  }
  Answer<std::size_t> read_link(std::span<char> text) override {
    if (Node* node = file_->node(); node != nullptr) return tree_.copy_path(*node, text);
    const std::string_view name = file_->anonymous_name();
    const std::size_t letters = name.size() < text.size() ? name.size() : text.size();
    __builtin_memcpy(text.data(), name.data(), letters);
    return letters;
  }

 private:
  Reference<FileDescription> file_;
  FileTree& tree_;
};

class DescriptorDirectory final : public Directory {
 public:
  DescriptorDirectory(Reference<Volume> volume, DescriptorTable& table, FileTree& tree)
      : Directory(std::move(volume)), table_(table), tree_(tree) {}

  FileStatus status() override { return basic_status(0500); }
  Answer<Reference<FileDescription>> open(std::uint32_t flags) override { return open_directory(*this, flags); }

  Answer<Reference<Node>> find(std::string_view name) override {
    std::int64_t number = 0;
    for (const char letter : name) {
      if (letter < '0' || letter > '9' || number > DescriptorTable::largest_limit) return Errno::enoent;
      number = number * 10 + (letter - '0');
    }
    if (name.empty() || (name.size() > 1 && name[0] == '0')) return Errno::enoent;
    Answer<Reference<FileDescription>> file = table_.find(static_cast<std::int32_t>(number));
    if (!file.ok()) return Errno::enoent;
    Allocator& heap = volume().heap();
    return Reference<Node>(
        TRY(make_reference<DescriptorLink>(heap, Reference<Volume>(volume()), std::move(file).value(), tree_)));
  }

  Answer<void> list(std::uint64_t position, DirectorySink& sink) override {
    if (position > DescriptorTable::largest_limit) return {};
    for (std::int32_t number = table_.next_used(static_cast<std::int32_t>(position)); number >= 0;
         number = table_.next_used(number + 1)) {
      const auto name = text_of<16>(number);
      const auto place = static_cast<std::uint64_t>(number);
      if (!TRY(sink.add({name.view(), inode() + place + 1, FileKind::symbolic_link, place + 1}))) break;
    }
    return {};
  }

 private:
  DescriptorTable& table_;
  FileTree& tree_;
};

}  // namespace

Answer<Reference<Node>> make_descriptor_directory(Reference<Volume> volume, DescriptorTable& table, FileTree& tree) {
  Allocator& heap = volume->heap();
  return Reference<Node>(TRY(make_reference<DescriptorDirectory>(heap, std::move(volume), table, tree)));
}

}  // namespace ingot::os
