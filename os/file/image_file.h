// ImageFile: a file of the boot image. Its bytes stay where the loader put them; reading copies from there, and a
// mapping shows the memory itself wherever pages fit.
#pragma once

#include <optional>
#include <span>

#include "os/file/memory_directory.h"
#include "os/file/node.h"
#include "os/file/sparse_pages.h"
#include "os/file/used_up_pages.h"

namespace ingot::os {

struct ImageContent {
  // What lies between the file's end and the end of its last page. A mapping shows whole pages, and programs expect
  // zeros there.
  enum class Tail : std::uint8_t { zeros, other };

  std::span<const std::byte> bytes;
  std::optional<PhysicalAddress> physical;  // of the first byte; none: nothing is shown in place
  Tail tail = Tail::other;
  // What a program unmaps or discards is given away for good: weights that are repacked when they are loaded. Only for
  // content that has its pages for itself.
  bool consumed = false;
};

class ImageFile final : public Node {
 public:
  ImageFile(Reference<Volume> volume, ImageContent content, std::uint32_t permissions, Nanoseconds modified);

  // While the tree is being built: of several names in an archive only the last carries the content.
  void set_content(ImageContent content);
  const ImageContent& content() const { return content_; }

  ImageFile* as_image_file() override { return this; }
  FileStatus status() override;
  Answer<Reference<FileDescription>> open(std::uint32_t flags) override;
  Answer<void> truncate(std::uint64_t) override { return Errno::erofs; }

  Answer<std::size_t> read(Transfer& to, std::uint64_t offset);
  MemoryObject& mapping() { return pages_; }

 private:
  // In place where a whole page of the file is a whole page of memory; else a copy, made once and kept for all.
  class ImagePages final : public MemoryObject, private PageBudget {
   public:
    explicit ImagePages(ImageFile& file);
    Result<Backing> fault(std::uint64_t offset, PageSize size) override;
    Node* node() override { return &file_; }
    std::uint64_t phase() const override;
    void let_go(std::uint64_t offset, std::uint64_t bytes, const Region& by) override {
      give_away_unshown(offset, bytes, &by);
    }
    // What a device uses is given away when it has ended, if nothing shows it then.
    Result<void> pin(std::uint64_t offset, std::uint64_t bytes) override;
    void unpin(std::uint64_t offset, std::uint64_t bytes) override;
    // EIO: a page of it is gone.
    Answer<void> copy(std::uint64_t offset, std::span<std::byte> to);

   private:
    Answer<void> take_page() override { return {}; }
    void give_back_page() override {}
    bool is_used_up(std::uint64_t offset, std::uint64_t bytes);
    void give_away_unshown(std::uint64_t offset, std::uint64_t bytes, const Region* by);
    void give_away(std::uint64_t begin, std::uint64_t end);

    ImageFile& file_;
    Locked<SparsePages> copies_;
    Locked<UsedUpPages> used_up_;
  };

  std::uint64_t page_count() const;

  ImageContent content_;
  std::uint32_t permissions_;
  Nanoseconds modified_;
  ImagePages pages_;
};

}  // namespace ingot::os
