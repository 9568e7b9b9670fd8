#include "accelerator/machine_memory.h"

#include <algorithm>
#include <optional>

#include "machine/accelerator/shared_memory.h"

namespace ingot {
namespace {

using accelerator::Access;
using accelerator::MemoryCommand;
using accelerator::MemoryPiece;
using accelerator::page_bytes;

// By how much less an offset is than an address, as QEMU lays memory out: nothing; where memory begins at 1 GiB (virt
// of aarch64); and above 4 GiB, by what is left out below it: of microvm and q35 1 GiB, 1.25 GiB and 2 GiB, of
// others 0.5 GiB.
constexpr std::uint64_t quarter = std::uint64_t{1} << 28;
constexpr std::array<std::uint64_t, 5> usual_shifts = {0, 4 * quarter, 5 * quarter, 8 * quarter, 2 * quarter};

// All of it, or it is an error: the file does not shrink.
Result<void> read_at(int descriptor, std::uint64_t offset, std::span<std::byte> room) {
  std::size_t done = 0;
  while (done < room.size()) {
    const ssize_t count =
        ::pread(descriptor, room.data() + done, room.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refused("read a machine's memory");
    if (count == 0) {
      return Error::of(ErrorCode::out_of_range, "expected ", room.size(), " bytes of a machine's memory at ", offset,
                       ", found its end");
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

Error found_twice(std::uint64_t nonce) {
  return Error::of(ErrorCode::corrupt, "expected one frame of the machine to begin with ", nonce,
                   ", found two: a nonce is drawn anew for each range");
}

Result<void> require_apart(std::vector<FilePiece> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const FilePiece& a, const FilePiece& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i - 1].offset + pieces[i - 1].bytes <= pieces[i].offset) continue;
    return Error::of(ErrorCode::invalid_argument, "expected a table whose pieces do not overlap, found ",
                     pieces[i].bytes, " bytes twice");
  }
  return {};
}

}  // namespace

Result<std::uint64_t> MachineMemory::adopt(Descriptor memory) {
  if (memory_.is_open()) {
    return Error::of(ErrorCode::invalid_argument, "expected a machine's memory to be adopted once, found it again");
  }
  const std::uint64_t bytes = TRY(sealed_bytes(memory.get()));
  if (bytes < page_bytes) {
    return Error::of(ErrorCode::out_of_range, "expected a machine's memory of at least a page, found ", bytes,
                     " bytes");
  }
  bytes_ = bytes;
  memory_ = std::move(memory);
  return bytes_;
}

// Read as a file: to touch pages that nobody wrote would make them.
Result<bool> MachineMemory::begins_with(std::uint64_t offset, std::uint64_t nonce) const {
  std::array<std::uint64_t, accelerator::nonce_repeats> words{};
  TRY(read_at(memory_.get(), offset, std::as_writable_bytes(std::span(words))));
  return std::all_of(words.begin(), words.end(), [&](std::uint64_t word) { return word == nonce; });
}

Result<std::uint64_t> MachineMemory::search(std::uint64_t nonce) const {
  std::optional<std::uint64_t> found;
  off_t next = 0;
  while (true) {
    const off_t begin = ::lseek(memory_.get(), next, SEEK_DATA);
    if (begin < 0) break;  // nothing was written behind
    next = ::lseek(memory_.get(), begin, SEEK_HOLE);
    if (next < 0) return refused("ask where a machine's memory ends");
    for (auto at = static_cast<std::uint64_t>(begin); at + page_bytes <= static_cast<std::uint64_t>(next);
         at += page_bytes) {
      if (!TRY(begins_with(at, nonce))) continue;
      if (found.has_value()) return found_twice(nonce);
      found = at;
    }
  }
  if (found.has_value()) return *found;
  return Error::of(ErrorCode::not_found, "expected a frame of the machine to begin with ", nonce,
                   ", found none: is the memory that was handed over this machine's?");
}

Result<std::uint64_t> MachineMemory::find_frame(std::uint64_t frame, std::uint64_t nonce) const {
  std::optional<std::uint64_t> found;
  for (const std::uint64_t shift : usual_shifts) {
    if (frame < shift || frame - shift > bytes_ - page_bytes) continue;
    if (!TRY(begins_with(frame - shift, nonce))) continue;
    if (found.has_value()) return found_twice(nonce);
    found = frame - shift;
  }
  if (found.has_value()) return *found;
  return search(nonce);
}

Result<std::uint64_t> MachineMemory::locate(const MemoryCommand& command) {
  if (!memory_.is_open()) {
    return Error::of(ErrorCode::invalid_argument, "expected a machine's memory to be adopted, found none");
  }
  const std::uint64_t found = TRY(find_frame(command.frame, command.nonce));
  const std::uint64_t before = command.frame - command.address;
  if (found < before || command.bytes > bytes_ || found - before > bytes_ - command.bytes) {
    return Error::of(ErrorCode::out_of_range, "expected ", command.bytes, " bytes about the frame at ", found,
                     " of the machine's memory, of which ", before, " lie before it, found ", bytes_, " bytes in all");
  }
  const std::uint64_t offset = found - before;
  for (std::size_t i = 0; i < located_.count(); ++i) {
    if (located_[i].home < offset + command.bytes && offset < located_[i].home + located_[i].bytes) {
      return Error::of(ErrorCode::invalid_argument, "expected ranges that lie apart in the machine's memory, found ",
                       command.bytes, " bytes at ", offset, ", of which some are located already");
    }
  }
  TRY(located_.add({command.address, command.bytes, offset, true}));
  return offset;
}

Result<std::vector<FilePiece>> MachineMemory::read_table(const MemoryCommand& command) const {
  const std::uint64_t at = TRY(located_.find(command.table, command.pieces * sizeof(MemoryPiece), Access::read));
  std::vector<MemoryPiece> table(command.pieces);
  TRY(read_at(memory_.get(), at, std::as_writable_bytes(std::span(table))));
  std::vector<FilePiece> pieces;
  std::uint64_t left = command.bytes;
  for (const MemoryPiece& piece : table) {
    if ((piece.physical | piece.bytes) % page_bytes != 0 || piece.bytes == 0 || piece.bytes > left) {
      return Error::of(ErrorCode::invalid_argument, "expected a table of whole pages, ", command.bytes,
                       " bytes in all, found ", piece.bytes, " bytes at ", piece.physical, " where ", left,
                       " were left");
    }
    left -= piece.bytes;
    const std::uint64_t offset = TRY(located_.find(piece.physical, piece.bytes, Access::read));
    if (!pieces.empty() && pieces.back().offset + pieces.back().bytes == offset) {
      pieces.back().bytes += piece.bytes;
    } else {
      pieces.push_back({offset, piece.bytes});
    }
  }
  if (left != 0) {
    return Error::of(ErrorCode::invalid_argument, "expected a table of ", command.bytes, " bytes, found ", left,
                     " fewer");
  }
  TRY(require_apart(pieces));
  return pieces;
}

}  // namespace ingot
