#include "os/file/memory_file.h"

#include <algorithm>

namespace ingot::os {
namespace {

constexpr std::uint64_t largest_file = SparsePages::most_bytes;

class MemoryFileDescription final : public SeekableDescription {
 public:
  MemoryFileDescription(MemoryFile& file, std::uint32_t flags) : SeekableDescription(flags), file_(file) {}

  Answer<FileStatus> status() override { return file_->status(); }
  Answer<void> truncate(std::uint64_t bytes) override { return file_->truncate(bytes); }
  Answer<void> reserve(std::uint64_t offset, std::uint64_t bytes, Reserved size) override {
    return file_->reserve(offset, bytes, size);
  }
  void begin_reserving() override { file_->begin_reserving(); }
  bool end_reserving(std::uint64_t most_bytes) override { return file_->end_reserving(most_bytes); }
  Answer<FileMapping> mapping(std::uint64_t offset, std::uint64_t bytes, Access) override {
    if (offset + bytes > largest_file) return Errno::eoverflow;
    file_->note_reading();
    return FileMapping{&file_->mapping(), file_};
  }
  Node* node() override { return file_.get(); }

 private:
  Answer<std::uint64_t> size() override { return file_->size(); }
  Answer<std::uint64_t> next_data(std::uint64_t offset) override { return file_->next_data(offset); }
  Answer<std::uint64_t> next_hole(std::uint64_t offset) override { return file_->next_hole(offset); }
  Answer<std::size_t> read_bytes_at(Transfer& to, std::uint64_t offset) override { return file_->read(to, offset); }
  Answer<std::size_t> write_range(Transfer& from, std::uint64_t offset) override { return file_->write(from, offset); }
  Mutex* append_lock() override { return &file_->append_lock(); }

  Reference<MemoryFile> file_;
};

}  // namespace

class MemoryFile::HeldFrame {
 public:
  HeldFrame(MemoryFile& file, FrameNumber frame) : file_(file), frame_(frame) {
    file_.frames().table().info(frame_).add_references(1);
  }
  HeldFrame(HeldFrame&& other) noexcept : file_(other.file_), frame_(std::exchange(other.frame_, FrameNumber(0))) {}
  ~HeldFrame() {
    if (frame_.value() != 0) file_.frames().release(frame_, page_order);
  }
  std::span<std::byte> bytes(std::uint64_t offset) const {
    return {file_.volume().services().window.at<std::byte>(frame_) + offset, page_bytes - offset};
  }

 private:
  MemoryFile& file_;
  FrameNumber frame_;
};

// A call that changes the content. What is mapped to be executed is not changed, and not so mapped meanwhile.
class MemoryFile::Change {
 public:
  explicit Change(MemoryFile& file) : mapping_(file.mapping_), is_allowed_(mapping_.begin_writing()) {}
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  ~Change() {
    if (is_allowed_) mapping_.end_writing();
  }
  Answer<void> check() const {
    if (!is_allowed_) return Errno::etxtbsy;
    return {};
  }

 private:
  MemoryObject& mapping_;
  bool is_allowed_;
};

Answer<Reference<Node>> make_memory_file(const Reference<Volume>& volume, std::uint32_t permissions) {
  TRY(volume->take_node());
  Result<Reference<MemoryFile>> made = make_reference<MemoryFile>(volume->heap(), volume, permissions);
  if (made.ok()) return Reference<Node>(std::move(made).value());
  volume->give_back_node();
  return made.error();
}

MemoryFile::MemoryFile(Reference<Volume> owner, std::uint32_t permissions)
    : Node(std::move(owner), FileKind::regular),
      content_(LockRank::file_pages, frames(), volume().services().window, static_cast<PageBudget&>(*this)),
      attributes_(LockRank::file_pages),
      mapping_(*this) {
  attributes_.with([&](Attributes& it) { it = Attributes::fresh(permissions, volume().now()); });
}

MemoryFile::~MemoryFile() {
  content_.with([](Content& it) { it.pages.cut(0); });
  volume().give_back_node();
}

FileStatus MemoryFile::status() {
  FileStatus status = basic_status(0);
  attributes_.with([&](Attributes& it) { it.show_in(status); });
  content_.with([&](Content& it) {
    status.bytes = it.bytes;
    status.allocated_bytes = it.pages.count() * page_bytes;
  });
  return status;
}

Answer<Reference<FileDescription>> MemoryFile::open(std::uint32_t flags) {
  return Reference<FileDescription>(TRY(make_reference<MemoryFileDescription>(volume().heap(), *this, flags)));
}

std::uint64_t MemoryFile::size() {
  return content_.with([](Content& it) { return it.bytes; });
}

bool MemoryFile::Content::cut_behind_the_end(std::uint64_t most_pages) {
  return pages.cut_some(std::max(round_up(bytes, page_bytes) / page_bytes, promised_pages), most_pages);
}

void MemoryFile::note_reading() {
  const Nanoseconds now = volume().now();
  attributes_.with([&](Attributes& it) { it.times.accessed = now; });
}

void MemoryFile::note_writing() {
  const Nanoseconds now = volume().now();
  attributes_.with([&](Attributes& it) { it.times.modified = it.times.changed = now; });
}

Answer<std::size_t> MemoryFile::read(Transfer& to, std::uint64_t offset) {
  std::uint64_t done = 0;
  while (to.left() != 0) {
    const std::uint64_t position = offset + done, inside = position % page_bytes;
    std::uint64_t available = 0;
    std::optional<HeldFrame> held = content_.with([&](Content& it) -> std::optional<HeldFrame> {
      available = position < it.bytes ? std::min(it.bytes - position, page_bytes - inside) : 0;
      if (available == 0) return {};
      const std::optional<FrameNumber> frame = it.pages.find(position / page_bytes);
      if (!frame) return {};
      return HeldFrame(*this, *frame);
    });
    if (available == 0) break;
    const std::uint64_t wanted = std::min(available, to.left());
    Answer<std::size_t> moved = held ? to.give(held->bytes(inside).first(available)) : to.give_zeros(available);
    if (!moved.ok() && done == 0) return moved.error();
    if (!moved.ok()) break;
    done += moved.value();
    if (moved.value() < wanted) break;
  }
  return static_cast<std::size_t>(done);
}

Answer<std::size_t> MemoryFile::write(Transfer& from, std::uint64_t offset) {
  TRY(volume().check_writable());
  const Change change(*this);
  TRY(change.check());
  const std::uint64_t most = std::min(largest_file, from.most_file_bytes());
  if (offset >= most && from.left() != 0) return Errno::efbig;
  from.shorten(most - std::min(offset, most));
  std::uint64_t done = 0;
  while (from.left() != 0) {
    const std::uint64_t position = offset + done, inside = position % page_bytes;
    Answer<HeldFrame> held = content_.with([&](Content& it) -> Answer<HeldFrame> {
      const FrameNumber frame = TRY(it.pages.find_or_add(position / page_bytes));
      return HeldFrame(*this, frame);
    });
    if (!held.ok() && done == 0) return held.error();
    if (!held.ok()) break;
    const std::uint64_t wanted = std::min(page_bytes - inside, from.left());
    const Answer<std::size_t> moved = from.take(held.value().bytes(inside));
    if (moved.ok()) done += moved.value();
    if (moved.ok()) content_.with([&](Content& it) { it.bytes = std::max(it.bytes, offset + done); });
    if (!moved.ok() && done == 0) return moved.error();
    if (!moved.ok()) break;
    note_writing();
    if (moved.value() < wanted) break;
  }
  return static_cast<std::size_t>(done);
}

Answer<void> MemoryFile::reserve(std::uint64_t offset, std::uint64_t bytes, FileDescription::Reserved size) {
  TRY(volume().check_writable());
  const Change change(*this);
  TRY(change.check());
  if (bytes > largest_file || offset > largest_file - bytes) return Errno::efbig;
  for (std::uint64_t page = offset / page_bytes; page * page_bytes < offset + bytes; ++page) {
    TRY(content_.with([&](Content& it) { return it.pages.find_or_add(page); }));
  }
  const std::uint64_t end_page = round_up(offset + bytes, page_bytes) / page_bytes;
  content_.with([&](Content& it) {
    if (size == FileDescription::Reserved::keeps_size) it.promised_pages = std::max(it.promised_pages, end_page);
    if (size == FileDescription::Reserved::grows) it.bytes = std::max(it.bytes, offset + bytes);
  });
  if (size == FileDescription::Reserved::grows) note_writing();
  return {};
}

void MemoryFile::begin_reserving() {
  content_.with([](Content& it) { ++it.reservers; });
}

bool MemoryFile::end_reserving(std::uint64_t most_bytes) {
  return content_.with([&](Content& it) {
    if (it.reservers == 1 && !it.cut_behind_the_end(most_bytes / page_bytes)) return false;
    --it.reservers;
    return true;
  });
}

Answer<void> MemoryFile::truncate(std::uint64_t bytes) {
  TRY(volume().check_writable());
  const Change change(*this);
  TRY(change.check());
  if (bytes > largest_file) return Errno::efbig;
  const std::uint64_t kept_pages = round_up(bytes, page_bytes) / page_bytes;
  const bool shrinks = content_.with([&](Content& it) {
    // What was reserved behind the end goes as well.
    it.promised_pages = std::min(it.promised_pages, kept_pages);
    if (bytes == it.bytes && it.reservers == 0) static_cast<void>(it.cut_behind_the_end(SparsePages::most_pages));
    return bytes < std::exchange(it.bytes, bytes);
  });
  if (shrinks) {
    // From here on a fault beyond the end fails, so no region gets a page back after it lost it.
    TRY(mapping_.invalidate(kept_pages * page_bytes, largest_file - kept_pages * page_bytes));
    content_.with([&](Content& it) {
      const std::uint64_t end_pages = round_up(it.bytes, page_bytes) / page_bytes;  // it may have grown again
      it.pages.cut(std::max(kept_pages, end_pages));
      const std::optional<FrameNumber> last =
          bytes % page_bytes != 0 ? it.pages.find(bytes / page_bytes) : std::nullopt;
      // What lies behind the end must be zeros when the file grows.
      if (last) volume().services().window.clear(last->address() + bytes % page_bytes, page_bytes - bytes % page_bytes);
    });
  }
  note_writing();
  return {};
}

Answer<std::uint64_t> MemoryFile::next_data(std::uint64_t offset) {
  return content_.with([&](Content& it) -> Answer<std::uint64_t> {
    if (offset >= it.bytes) return Errno::enxio;
    const std::uint64_t end = round_up(it.bytes, page_bytes) / page_bytes;
    const std::optional<std::uint64_t> page = it.pages.next_present(offset / page_bytes, end);
    if (!page) return Errno::enxio;
    return std::max(offset, *page * page_bytes);
  });
}

Answer<std::uint64_t> MemoryFile::next_hole(std::uint64_t offset) {
  return content_.with([&](Content& it) -> Answer<std::uint64_t> {
    if (offset >= it.bytes) return Errno::enxio;
    const std::uint64_t end = round_up(it.bytes, page_bytes) / page_bytes;
    return std::min(it.bytes, std::max(offset, it.pages.next_absent(offset / page_bytes, end) * page_bytes));
  });
}

Answer<void> MemoryFile::set_permissions(std::uint32_t permissions) {
  attributes_.with([&](Attributes& it) { it.permissions = permissions & 07777; });
  return {};
}

Answer<void> MemoryFile::set_owner(std::optional<std::uint32_t> user, std::optional<std::uint32_t> group) {
  attributes_.with([&](Attributes& it) { it.set_owner(user, group); });
  return {};
}

Answer<void> MemoryFile::set_times(std::optional<Nanoseconds> accessed, std::optional<Nanoseconds> modified) {
  const Nanoseconds now = volume().now();
  attributes_.with([&](Attributes& it) { it.set_times(accessed, modified, now); });
  return {};
}

void MemoryFile::add_link() {
  attributes_.with([](Attributes& it) { ++it.links; });
}

bool MemoryFile::drop_link() {
  return attributes_.with([](Attributes& it) { return --it.links == 0; });
}

Result<Backing> MemoryFile::Mapping::fault(std::uint64_t offset, PageSize size) {
  if (size != PageSize::small) return Error::of(ErrorCode::unsupported, "expected small pages of a file in memory");
  Answer<FrameNumber> frame = file_.content_.with([&](Content& it) -> Answer<FrameNumber> {
    if (offset >= round_up(it.bytes, page_bytes)) return Errno::enxio;
    const FrameNumber found = TRY(it.pages.find_or_add(offset / page_bytes));
    file_.frames().table().info(found).add_references(1);
    return found;
  });
  if (frame.ok()) return Backing{frame.value().address(), FrameOwnership::counted};
  if (frame.error() == Errno::enxio) {
    return Error::of(ErrorCode::out_of_range, "expected an offset inside the file, found ", offset);
  }
  return Error::of(ErrorCode::out_of_memory, "expected room for a page of a file, found the quota used up");
}

}  // namespace ingot::os
