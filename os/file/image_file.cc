#include "os/file/image_file.h"

#include <algorithm>

#include "os/memory/region.h"

namespace ingot::os {
namespace {

class ImageFileDescription final : public SeekableDescription {
 public:
  ImageFileDescription(ImageFile& file, std::uint32_t flags) : SeekableDescription(flags), file_(file) {}

  Answer<FileStatus> status() override { return file_->status(); }
  Answer<FileMapping> mapping(std::uint64_t offset, std::uint64_t bytes, Access) override {
    if (offset + bytes > SparsePages::most_bytes) return Errno::eoverflow;
    return FileMapping{&file_->mapping(), file_};
  }
  Node* node() override { return file_.get(); }

 private:
  Answer<std::uint64_t> size() override { return std::uint64_t{file_->content().bytes.size()}; }
  Answer<std::size_t> read_bytes_at(Transfer& to, std::uint64_t offset) override { return file_->read(to, offset); }
  Answer<std::size_t> write_range(Transfer&, std::uint64_t) override { return Errno::erofs; }

  Reference<ImageFile> file_;
};

std::uint64_t pages_up_to(std::uint64_t end) { return round_up(end, page_bytes) / page_bytes; }

}  // namespace

ImageFile::ImageFile(Reference<Volume> owner, ImageContent content, std::uint32_t permissions, Nanoseconds modified)
    : Node(std::move(owner), FileKind::regular),
      content_(content),
      permissions_(permissions & 07777),
      modified_(modified),
      pages_(*this) {
  volume().count_pages(page_count());
}

void ImageFile::set_content(ImageContent content) {
  volume().give_back_pages(page_count());
  content_ = content;
  volume().count_pages(page_count());
}

std::uint64_t ImageFile::page_count() const { return round_up(content_.bytes.size(), page_bytes) / page_bytes; }

FileStatus ImageFile::status() {
  FileStatus status = basic_status(permissions_);
  status.links = names();
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
  if (!content_.consumed) return to.give(content_.bytes.subspan(offset));
  // By a copy of our own: while bytes move to the program, which may take long, another thread may give the page away.
  std::size_t done = 0;
  while (to.left() != 0 && offset < content_.bytes.size()) {
    std::byte part[512];
    const std::span piece(part, std::min<std::uint64_t>({sizeof part, to.left(), content_.bytes.size() - offset}));
    const Answer<void> copied = pages_.copy(offset, piece);
    const Answer<std::size_t> moved = copied.ok() ? to.give(piece) : copied.error();
    if (!moved.ok() && done == 0) return moved.error();
    if (!moved.ok() || moved.value() == 0) break;
    done += moved.value();
    offset += moved.value();
  }
  return done;
}

ImageFile::ImagePages::ImagePages(ImageFile& file)
    : MemoryObject("file", Pages::kept, PageSize::giant, CacheMode::write_back),
      file_(file),
      copies_(LockRank::file_pages, *file.volume().services().frames, file.volume().services().window,
              static_cast<PageBudget&>(*this)),
      used_up_(LockRank::file_pages, file.volume().heap()) {}

std::uint64_t ImageFile::ImagePages::phase() const {
  const std::optional<PhysicalAddress>& physical = file_.content().physical;
  return physical && physical->aligned(page_bytes) ? physical->value() % giant_page_bytes : 0;
}

bool ImageFile::ImagePages::is_used_up(std::uint64_t offset, std::uint64_t bytes) {
  if (!file_.content().consumed) return false;
  return used_up_.with([&](UsedUpPages& pages) {
    const std::uint64_t end = std::min(offset + bytes, round_up(file_.content().bytes.size(), page_bytes));
    for (; offset < end; offset += page_bytes) {
      if (pages.contains(offset / page_bytes)) return true;
    }
    return false;
  });
}

Answer<void> ImageFile::ImagePages::copy(std::uint64_t offset, std::span<std::byte> to) {
  return used_up_.with([&](UsedUpPages& pages) -> Answer<void> {
    if (pages.contains(offset / page_bytes) || pages.contains((offset + to.size() - 1) / page_bytes)) return Errno::eio;
    __builtin_memcpy(to.data(), file_.content().bytes.data() + offset, to.size());
    return {};
  });
}

Result<void> ImageFile::ImagePages::pin(std::uint64_t offset, std::uint64_t bytes) {
  if (!file_.content().consumed) return {};
  return used_up_.with([&](UsedUpPages& pages) { return pages.pin(offset / page_bytes, pages_up_to(offset + bytes)); });
}

void ImageFile::ImagePages::unpin(std::uint64_t offset, std::uint64_t bytes) {
  if (!file_.content().consumed) return;
  used_up_.with([&](UsedUpPages& pages) { pages.unpin(offset / page_bytes, pages_up_to(offset + bytes)); });
  const std::uint64_t begin = round_down(offset, page_bytes);
  give_away_unshown(begin, round_up(offset + bytes, page_bytes) - begin, nullptr);
}

// What a region shows, stays, but for the one that lets go.
void ImageFile::ImagePages::give_away_unshown(std::uint64_t offset, std::uint64_t bytes, const Region* by) {
  const ImageContent& content = file_.content();
  if (!content.consumed || !content.physical) return;
  const std::uint64_t end = std::min(offset + bytes, round_up(content.bytes.size(), page_bytes));
  regions().with([&](RegionsShowing& showing) {
    while (offset < end) {
      std::uint64_t next = end, shown_until = 0;
      for (const Region& region : showing.all) {
        if (&region == by) continue;
        const std::uint64_t begin = region.object_offset;
        if (begin <= offset) shown_until = std::max(shown_until, begin + region.bytes);
        if (begin > offset) next = std::min(next, begin);
      }
      if (shown_until <= offset) give_away(offset, next);
      offset = shown_until <= offset ? next : shown_until;
    }
  });
}

void ImageFile::ImagePages::give_away(std::uint64_t begin, std::uint64_t end) {
  const ImageContent& content = file_.content();
  FrameSource& frames = *file_.volume().services().frames;
  used_up_.with([&](UsedUpPages& pages) {
    if (!pages.prepare(round_up(content.bytes.size(), page_bytes) / page_bytes).ok()) return;
    for (std::uint64_t page = begin / page_bytes; page < end / page_bytes; ++page) {
      if (pages.contains(page) || pages.is_pinned(page)) continue;
      pages.add(page);
      const FrameNumber frame = FrameNumber::containing(*content.physical + page * page_bytes);
      frames.adopt(frame, frame + 1);
    }
  });
}

Result<Backing> ImageFile::ImagePages::fault(std::uint64_t offset, PageSize size) {
  const ImageContent& content = file_.content();
  const std::uint64_t end = content.bytes.size();
  const std::uint64_t shown_end = content.tail == ImageContent::Tail::zeros ? round_up(end, page_bytes) : end;
  const std::uint64_t bytes = bytes_of(size);
  if (is_used_up(offset, bytes)) {
    return Error::of(ErrorCode::out_of_range, "expected a page of a file that is still there, found one at ", offset,
                     " that was let go, in a file to be consumed");
  }
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
