#include "os/file/synthetic/proc_directory.h"

#include "os/file/symbolic_link.h"

namespace ingot::os {
namespace {

// A link whose text is asked for when it is read: /proc/self/exe, /proc/self/cwd.
class AskedLink final : public Node {
 public:
  enum class About : std::uint8_t { executable, working_directory };

  AskedLink(Reference<Volume> volume, About about, ProcessReport& process, FileTree& tree)
      : Node(std::move(volume), FileKind::symbolic_link), about_(about), process_(process), tree_(tree) {}

  FileStatus status() override { return basic_status(0777); }
  Answer<Reference<FileDescription>> open(std::uint32_t) override { return Errno::eloop; }
  Answer<Reference<Node>> destination() override {
    if (about_ == About::executable) return Reference<Node>();
    return Reference<Node>(process_.working_directory());
  }
  Answer<std::size_t> read_link(std::span<char> text) override {
    if (about_ == About::executable) return copy(process_.executable(), text);
    const Reference<Directory> directory = process_.working_directory();
    return tree_.copy_path(*directory, text);
  }

 private:
  static std::size_t copy(std::string_view path, std::span<char> text) {
    const std::size_t letters = path.size() < text.size() ? path.size() : text.size();
    __builtin_memcpy(text.data(), path.data(), letters);
    return letters;
  }

  About about_;
  ProcessReport& process_;
  FileTree& tree_;
};

Answer<void> add_link(MemoryDirectory& directory, std::string_view name, std::string_view target) {
  const Reference<Node> link =
      TRY(make_symbolic_link(Reference<Volume>(directory.volume()), target, NameStorage::borrowed));
  return directory.add(name, NameStorage::borrowed, *link);
}

}  // namespace

Answer<void> add_proc_files(MemoryDirectory& proc, const ProcSubjects& subjects) {
  Reference<Volume> volume(proc.volume());
  Allocator& heap = volume->heap();
  TRY(add_proc_machine_files(proc, subjects.system));
  const Reference<MemoryDirectory> ours = TRY(add_directory(proc, "ingot"));
  TRY(add_proc_ingot_files(*ours, subjects.process));

  TextWriter number(heap);
  number.add(subjects.process.identity());
  const std::string_view digits = TRY(number.finish());
  const Reference<MemoryDirectory> own = TRY(add_directory(proc, digits, NameStorage::copied));
  const Reference<Node> self = TRY(make_symbolic_link(volume, digits, NameStorage::copied));
  TRY(proc.add("self", NameStorage::borrowed, *self));
  TRY(add_link(proc, "mounts", "self/mounts"));
  TRY(add_link(proc, "thread-self", "self"));

  TRY(add_proc_process_files(*own, subjects.process));
  const Reference<Node> descriptors =
      TRY(make_descriptor_directory(volume, subjects.process.descriptors(), subjects.tree));
  TRY(own->add("fd", NameStorage::borrowed, *descriptors));
  TRY(add_link(*own, "root", "/"));
  using About = AskedLink::About;
  const Reference<AskedLink> executable =
      TRY(make_reference<AskedLink>(heap, volume, About::executable, subjects.process, subjects.tree));
  TRY(own->add("exe", NameStorage::borrowed, *executable));
  const Reference<AskedLink> directory =
      TRY(make_reference<AskedLink>(heap, volume, About::working_directory, subjects.process, subjects.tree));
  return own->add("cwd", NameStorage::borrowed, *directory);
}

}  // namespace ingot::os
