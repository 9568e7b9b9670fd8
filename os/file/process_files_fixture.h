// What tests of a program's files share: an invented machine and process, and a tree as a program sees it.
#pragma once

#include "os/file/channels/epoll_fixture.h"
#include "os/file/cpio_archive.h"
#include "os/file/process_files.h"

namespace ingot::os::file_fixture {

struct InventedSystem final : MachineReport {
  std::uint32_t processors() override { return 4; }
  ProcessorFacts processor() override {
    return {"GenuineTest", "Test CPU @ 2GHz", 6, 1, 2, 2'000'123'000, 64, 40, 48, 22};
  }
  void write_processor_flags(TextWriter& text) override { text.add(" fpu avx2"); }
  std::optional<CacheFacts> cache(std::uint32_t index) override {
    if (index == 0) return CacheFacts{1, CacheKind::data, 32 << 10, 64, 8, 64, 1};
    if (index == 1) return CacheFacts{2, CacheKind::unified, 1 << 20, 64, 16, 1024, 2};
    return {};
  }
  MemoryFacts memory() override { return {256 << 20, 100 << 20, 120 << 20, 0, 0}; }
  Nanoseconds uptime() override { return Nanoseconds(12'340'000'000); }
  Nanoseconds started() override { return Nanoseconds(1'700'000'000'000'000'000); }
  std::string_view release() override { return "6.1.0-test"; }
  std::string_view host_name() override { return "ingot"; }
};

struct InventedProcess final : ProcessReport {
  explicit InventedProcess(ProcessFiles& own) : files(own) {}
  std::uint32_t identity() override { return 1; }
  std::string_view name() override { return "tool"; }
  std::string_view executable() override { return "/bin/tool"; }
  std::uint32_t threads() override { return 3; }
  ProcessMemory memory() override { return {40960, 81920, 8192, 16384, 0, 0, 0, 0}; }
  std::uint64_t signals_caught() override { return 0x402; }
  std::uint64_t signals_ignored() override { return 0; }
  void write_arguments(TextWriter& text) override { text.add("tool", '\0', "-v", '\0'); }
  void write_environment(TextWriter& text) override { text.add("HOME=/", '\0'); }
  void write_mappings(TextWriter& text) override { text.add("00400000-00401000 r-xp 00000000 00:01 2 /bin/tool\n"); }
  void write_auxiliary_vector(TextWriter& text) override { text.add("aux"); }
  void write_memory_report(TextWriter& text) override { text.add("large pages 7\n"); }
  void write_limits(TextWriter& text) override { text.add("Limit\n"); }
  DescriptorTable& descriptors() override { return files.descriptors(); }
  Reference<Directory> working_directory() override { return files.working_directory(); }
  ProcessFiles& files;
};

struct Sevens final : RandomSource {
  void fill(std::span<std::byte> bytes) override {
    for (std::byte& byte : bytes) byte = std::byte{'7'};
  }
};

// A console that gives its input once and remembers its output.
struct FakeConsole final : DeviceOpener {
  class Opened final : public FileDescription {
   public:
    Opened(Node& node, FakeConsole& console, std::uint32_t flags)
        : FileDescription(flags), node_(node), console_(console) {}
    Answer<FileStatus> status() override { return node_->status(); }
    Node* node() override { return node_.get(); }

   private:
    Answer<std::size_t> write_bytes(Transfer& from) override {
      char letter = 0;
      while (from.left() != 0 && from.take(std::as_writable_bytes(std::span(&letter, 1))).ok()) console_.out += letter;
      return std::size_t{from.moved()};
    }
    Reference<Node> node_;
    FakeConsole& console_;
  };
  explicit FakeConsole(Allocator& owner) : heap(owner) {}
  Answer<Reference<FileDescription>> open(Node& node, std::uint32_t flags) override {
    return Reference<FileDescription>(TRY(make_reference<Opened>(heap, node, *this, flags)));
  }
  Allocator& heap;
  std::string out;
};

class ProcessTree : public EpollFiles {
 protected:
  ProcessTree() {
    const std::string archive = cpio_archive::Archive()
                                    .add("bin/tool", "#!tool", 0100755)
                                    .add("etc/group", "mine:x:0:\n")
                                    .add("etc/motto", "cast")
                                    .add("ingot/manifest", "hidden")
                                    .end()
                                    .text();
    const PhysicalAddress place(8 << 20);
    __builtin_memcpy(memory.window().at<char>(place), archive.data(), archive.size());
    const ImageSegment segments[] = {{"/model", PhysicalAddress(12 << 20), 5, 0444}};
    __builtin_memcpy(memory.window().at<char>(segments[0].physical), "words", 5);
    const std::string brought = cpio_archive::Archive()
                                    .add("etc/motto", "brought")
                                    .add("etc/key", "key", 0100600)
                                    .add("model", "other")
                                    .end()
                                    .text();
    const PhysicalRange initrds[] = {{PhysicalAddress(13 << 20), brought.size()}, {PhysicalAddress(14 << 20), 4}};
    __builtin_memcpy(memory.window().at<char>(initrds[0].begin), brought.data(), brought.size());
    __builtin_memcpy(memory.window().at<char>(initrds[1].begin), "file", 4);
    TreePlan plan;
    plan.archives = place;
    plan.initrds = initrds;
    plan.archive_bytes = archive.size();
    plan.hidden = "ingot/manifest";
    plan.segments = segments;
    plan.tmpfs_bytes = 1 << 20;
    plan.system = &system;
    plan.process = &process;
    plan.random = &random;
    plan.console = &console;
    const Result<void> built = files.build(plan);
    EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().text());
    EXPECT_TRUE(files.open_standard_files().ok());
  }

  std::string get(std::string_view path) {
    Answer<Reference<FileDescription>> file = files.tree().open(*files.working_directory(), path, 0, 0);
    return file.ok() ? read_all(*file.value()) : std::string(name_of(file.error()));
  }
  std::string put(std::string_view path, std::string_view text) {
    Answer<Reference<FileDescription>> file =
        files.tree().open(*files.working_directory(), path, open_flag::write_only | open_flag::create, 0600);
    if (!file.ok()) return std::string(name_of(file.error()));
    const Answer<std::size_t> written = write(*file.value(), text);
    return written.ok() ? "ok" : std::string(name_of(written.error()));
  }
  std::string link(std::string_view path) {
    char text[100];
    Answer<Reference<Node>> node = files.tree().find(*files.working_directory(), path, LastLink::kept);
    if (!node.ok()) return std::string(name_of(node.error()));
    return {text, node.value()->read_link(text).value()};
  }
  std::vector<std::string> list(std::string_view path) {
    ListingSink sink;
    Reference<FileDescription> directory = files.tree().open(*files.working_directory(), path, 0, 0).value();
    EXPECT_TRUE(directory->entries(sink).ok());
    return sink.names;
  }
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  InventedSystem system;
  Sevens random;
  FakeConsole console{heap};
  ProcessFiles files{services};
  InventedProcess process{files};
};

}  // namespace ingot::os::file_fixture
