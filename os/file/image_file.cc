#include "os/file/image_file.h"

#include <algorithm>

namespace ingot::os {
namespace {

class ImageFileDescription final : public SeekableDescription {
 public:
  ImageFileDescription(ImageFile& file, std::uint32_t flags) : SeekableDescription(flags), file_(file) {}

  Answer<FileStatus> status() override { return file_->status(); }
  Answer<FileMapping> mapping() override {
    return FileMapping{&file_->mapping(), file_->content().bytes.size(), file_};
  }
  Node* node() override { return file_.get(); }

 private:
  Answer<std::uint64_t> size() override { return std::uint64_t{file_->content().bytes.size()}; }
  Answer<std::size_t> read_bytes_at(Transfer& to, std::uint64_t offset) override { return file_->read(to, offset); }
  Answer<std::size_t> write_bytes_at(Transfer&, std::uint64_t) override { return Errno::erofs; }

  Reference<ImageFile> file_;
};

}  // namespace

ImageFile::ImageFile(Reference<Volume> owner, ImageContent content, std::uint32_t permissions, Nanoseconds modified)
    : Node(std::move(owner), FileKind::regular),
      content_(content),
      permissions_(permissions & 07777),
      modified_(modified),
      pages_(*this) {}

void ImageFile::set_content(ImageContent content) { content_ = content; }

FileStatus ImageFile::status() {
  FileStatus status = basic_status(permissions_);
  status.links = links_;
  status.bytes = content_.bytes.size();
  status.allocated_bytes = round_up(status.bytes, page_bytes);
  status.times = {modified_, modified_, modified_};
  return status;
}

Answer<Reference<FileDescription>> ImageFile::open(std::uint32_t flags) {
  if ((flags & open_flag::access_mask) != open_flag::read_only) return Errno::erofs;
  return Reference<FileDescription>(TRY(make_reference<ImageFileDescription>(volume().heap(), *this, flags)));
}

Answer<std::size_t> ImageFile::read(Transfer& to, std::uint64_t offset) {
  if (offset >= content_.bytes.size()) return std::size_t{0};
  return to.give(content_.bytes.subspan(offset));
}

ImageFile::ImagePages::ImagePages(ImageFile& file)
    : MemoryObject("file", Pages::kept, PageSize::giant, CacheMode::write_back),
      file_(file),
      copies_(LockRank::file_pages, *file.volume().services().frames, file.volume().services().window,
              static_cast<PageBudget&>(*this)) {}

Result<Backing> ImageFile::ImagePages::fault(std::uint64_t offset, PageSize size) {
  const ImageContent& content = file_.content();
  const std::uint64_t end = content.bytes.size();
  const std::uint64_t shown_end = content.tail == ImageContent::Tail::zeros ? round_up(end, page_bytes) : end;
  const std::uint64_t bytes = bytes_of(size);
  if (content.physical && offset < shown_end && bytes <= shown_end - offset) {
    const PhysicalAddress physical = *content.physical + offset;
    if (physical.aligned(bytes)) return Backing{physical, FrameOwnership::borrowed};
  }
  if (size != PageSize::small) {
    return Error::of(ErrorCode::unsupported, "expected a file aligned to ", bytes, ", found one that is not");
  }
  if (offset >= round_up(end, page_bytes)) {
    return Error::of(ErrorCode::out_of_range, "expected an offset inside the ", end, " bytes of a file, found ",
                     offset);
  }
  const FileServices& services = file_.volume().services();
  const Answer<FrameNumber> frame = copies_.with([&](SparsePages& pages) -> Answer<FrameNumber> {
    const bool known = pages.find(offset / page_bytes).has_value();
    const FrameNumber copy = TRY(pages.find_or_add(offset / page_bytes));
    if (!known) {
      const auto part = content.bytes.subspan(offset, std::min(page_bytes, end - offset));
      __builtin_memcpy(services.window.at<char>(copy), part.data(), part.size());
    }
    services.frames->table().info(copy).add_references(1);
    return copy;
  });
  if (frame.ok()) return Backing{frame.value().address(), FrameOwnership::counted};
  return Error::of(ErrorCode::out_of_memory, "expected a free frame for a page of a file, found none");
}

}  // namespace ingot::os
