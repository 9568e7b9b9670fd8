#include "image/disk_image.h"

#include <zlib.h>

#include "base/units.h"
#include "image/bytes.h"

namespace ingot::image {

namespace {

constexpr std::uint64_t volume_at = 2048;  // sectors: 1 MiB, where every tool would put it
constexpr std::uint64_t entry_count = 128, entry_bytes = 128, entry_sectors = entry_count * entry_bytes / sector_bytes;

// As stored: the first three groups little-endian. The type is the specification's, the others are constants of ours.
constexpr std::string_view system_partition_type("\x28\x73\x2a\xc1\x1f\xf8\xd2\x11\xba\x4b\x00\xa0\xc9\x3e\xc9\x3b",
                                                 16);
constexpr std::string_view disk_identity("\x01\x74\x67\x6e\x69\x2d\x74\x4f\x8d\x1a\x69\x6e\x67\x6f\x74\x01", 16);
constexpr std::string_view partition_identity("\x02\x74\x67\x6e\x69\x2d\x74\x4f\x8d\x1a\x69\x6e\x67\x6f\x74\x02", 16);

// Of the table of partitions: gzip's sum, too.
std::uint32_t sum_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// One partition over the whole disk, of the kind that says "see the GUID table": for tools that know only the old form.
std::string protective_record(std::uint64_t sectors) {
  std::string record(446, '\0');
  record += std::string_view("\0\0\x02\0\xee\xff\xff\xff", 8);
  append_number<std::uint32_t>(record, 1);
  append_number(record, static_cast<std::uint32_t>(std::min<std::uint64_t>(sectors - 1, 0xffffffff)));
  record.resize(510);
  record += "\x55\xaa";
  return record;
}

std::string partition_entries(std::uint64_t volume_sectors) {
  std::string entries(system_partition_type);
  entries += partition_identity;
  append_number(entries, volume_at);
  append_number(entries, volume_at + volume_sectors - 1);
  append_number<std::uint64_t>(entries, 0);
  for (const char letter : std::string_view("ingot")) append_number(entries, static_cast<std::uint16_t>(letter));
  entries.resize(entry_count * entry_bytes);
  return entries;
}

}  // namespace

Result<DiskImage> DiskImage::plan(const std::vector<SmallFile>& small, const LargeFile& large) {
  DiskImage disk(TRY(Fat32Volume::plan(small, large, volume_at)));
  disk.large_bytes_ = large.bytes;
  const std::uint64_t volume_sectors = disk.volume_.bytes() / sector_bytes;
  disk.sectors_ = align_up(volume_at + volume_sectors + entry_sectors + 1, volume_at);
  return disk;
}

std::uint64_t DiskImage::used_bytes() const {
  return (volume_at + entry_sectors + 1) * sector_bytes + volume_.front().size() + large_bytes_;
}

std::string DiskImage::header(std::uint64_t own, std::uint64_t other, std::uint64_t entries_at,
                              std::uint32_t entries_sum) const {
  std::string header = "EFI PART";
  append_number<std::uint32_t>(header, 0x00010000);
  append_number<std::uint32_t>(header, 92);
  append_number<std::uint64_t>(header, 0);  // the sum, and a reserved word
  append_number(header, own);
  append_number(header, other);
  append_number(header, 2 + entry_sectors);             // the first sector for partitions
  append_number(header, sectors_ - entry_sectors - 2);  // and the last
  header += disk_identity;
  append_number(header, entries_at);
  append_number(header, static_cast<std::uint32_t>(entry_count));
  append_number(header, static_cast<std::uint32_t>(entry_bytes));
  append_number(header, entries_sum);
  put_number(header, 16, sum_of(header));
  header.resize(sector_bytes);
  return header;
}

Result<void> DiskImage::write(OutputFile& file, const std::function<Result<void>(OutputFile&)>& write_large) const {
  const std::string entries = partition_entries(volume_.bytes() / sector_bytes);
  const std::uint32_t sum = sum_of(entries);
  TRY(file.write(protective_record(sectors_)));
  TRY(file.write(header(1, sectors_ - 1, 2, sum)));
  TRY(file.write(entries));
  TRY(file.skip_to(volume_at * sector_bytes));
  TRY(file.write(volume_.front()));
  const std::uint64_t begin = file.written();
  TRY(write_large(file));
  if (file.written() - begin != large_bytes_) {
    return Error::of(ErrorCode::corrupt, "expected ", large_bytes_, " bytes as planned, found ",
                     file.written() - begin);
  }
  TRY(file.skip_to((sectors_ - entry_sectors - 1) * sector_bytes));
  TRY(file.write(entries));
  return file.write(header(sectors_ - 1, 1, sectors_ - entry_sectors - 1, sum));
}

}  // namespace ingot::image
