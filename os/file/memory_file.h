// MemoryFile: a file of the tmpfs. Its content is in frames, paid for by its volume's quota; holes cost nothing.
#pragma once

#include "os/file/attributes.h"
#include "os/file/node.h"
#include "os/file/sparse_pages.h"

namespace ingot::os {

Answer<Reference<Node>> make_memory_file(const Reference<Volume>& volume, std::uint32_t permissions);

class MemoryFile final : public Node, private PageBudget {
 public:
  MemoryFile(Reference<Volume> volume, std::uint32_t permissions);
  ~MemoryFile();

  FileStatus status() override;
  Answer<Reference<FileDescription>> open(std::uint32_t flags) override;
  Answer<void> truncate(std::uint64_t bytes) override;
  Answer<void> set_permissions(std::uint32_t permissions) override;
  Answer<void> set_owner(std::optional<std::uint32_t> user, std::optional<std::uint32_t> group) override;
  Answer<void> set_times(std::optional<Nanoseconds> accessed, std::optional<Nanoseconds> modified) override;
  void add_link() override;
  bool drop_link() override;

  Answer<std::size_t> read(Transfer& to, std::uint64_t offset);
  Answer<std::size_t> write(Transfer& from, std::uint64_t offset);
  // Makes sure that a range will not fail for want of room (fallocate).
  Answer<void> reserve(std::uint64_t offset, std::uint64_t bytes, FileDescription::Reserved size);
  void begin_reserving();
  bool end_reserving(std::uint64_t most_bytes);
  std::uint64_t size();
  Answer<std::uint64_t> next_data(std::uint64_t offset);
  Answer<std::uint64_t> next_hole(std::uint64_t offset);
  MemoryObject& mapping() { return mapping_; }
  void note_reading();
  void note_writing();
  Mutex& append_lock() { return append_lock_; }

 private:
  struct Content {
    Content(FrameSource& frames, PhysicalWindow window, PageBudget& budget) : pages(frames, window, budget) {}
    // Gives back what was reserved behind the end and promised to nobody, so many pages at most; but no page to which a
    // writer copies, for which the file has not grown yet: the writer holds it. False: there are more.
    bool cut_behind_the_end(std::uint64_t most_pages);

    SparsePages pages;
    std::uint64_t bytes = 0;
    std::uint64_t promised_pages = 0;  // up to here a fallocate that kept the size has succeeded
    std::uint32_t reservers = 0;       // whose parts lie behind the end as well
  };
  // What regions show: the pages themselves, shared by all.
  class Mapping final : public MemoryObject {
   public:
    explicit Mapping(MemoryFile& file)
        : MemoryObject("file", Pages::kept, PageSize::small, CacheMode::write_back), file_(file) {}
    Result<Backing> fault(std::uint64_t offset, PageSize size) override;
    Node* node() override { return &file_; }
    void note_writing() override { file_.note_writing(); }

   private:
    MemoryFile& file_;
  };
  // A frame that cannot go while bytes are copied to or from it: no lock is held then, since the copy may fault.
  class HeldFrame;
  class Change;

  Answer<void> take_page() override { return volume().take_page(); }
  void give_back_page() override { volume().give_back_pages(1); }
  FrameSource& frames() const { return *volume().services().frames; }

  Mutex append_lock_{LockRank::file_data};
  Locked<Content> content_;
  LockedAttributes attributes_;
  Mapping mapping_;
};

}  // namespace ingot::os
