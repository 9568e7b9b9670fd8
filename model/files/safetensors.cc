#include "model/files/safetensors.h"

#include <algorithm>
#include <set>

#include "model/files/byte_reader.h"
#include "model/files/quoted.h"
#include "model/files/safetensors_header.h"

namespace ingot {

namespace {

Result<std::uint64_t> demanded_bytes(const SafetensorsEntry& entry) {
  const std::uint64_t elements = TRY(packed_byte_count(entry.shape, 1, 1));
  const std::uint64_t bits = elements * static_cast<std::uint64_t>(entry.type->bits);  // elements stay below 2^48
  if (bits % 8 != 0) {
    return Error::of(ErrorCode::corrupt, "expected whole bytes, found ", bits, " bits for shape ", entry.shape, " of ",
                     entry.type->name);
  }
  return bits / 8;
}

Result<TensorRecord> place(const SafetensorsEntry& entry, std::uint64_t begin, std::span<const std::byte> data) {
  if (entry.begin != begin || entry.end < entry.begin) {
    return Error::of(ErrorCode::corrupt, "data_offsets: expected them to begin at ", begin,
                     " (no holes, no overlap), found [", entry.begin, ", ", entry.end, "]");
  }
  const std::uint64_t byte_count = TRY(demanded_bytes(entry));
  if (entry.end - entry.begin != byte_count) {
    return Error::of(ErrorCode::corrupt, "data_offsets: expected ", byte_count, " bytes for shape ", entry.shape,
                     " of ", entry.type->name, ", found ", entry.end - entry.begin);
  }
  if (entry.end > data.size()) {
    return Error::of(ErrorCode::corrupt, "data_offsets: expected an end within the ", data.size(),
                     " bytes after the header, found ", entry.end);
  }
  return TensorRecord{entry.name,
                      entry.type->name,
                      std::nullopt,
                      entry.type->dtype,
                      entry.shape,
                      byte_count,
                      data.subspan(begin, byte_count)};
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::parse(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto length = TRY(reader.take<std::uint64_t>("header length"));
  if (length > longest_safetensors_header) {
    return Error::of(ErrorCode::corrupt, "header length: expected at most ", longest_safetensors_header, ", found ",
                     length);
  }
  const std::span<const std::byte> json = TRY(reader.take_bytes(length, "header"));
  SafetensorsHeader header = TRY(read_safetensors_header({reinterpret_cast<const char*>(json.data()), json.size()}));
  std::ranges::stable_sort(header.entries, {}, [](const auto& entry) { return std::pair(entry.begin, entry.end); });

  SafetensorsFile file;
  file.metadata_ = std::move(header.metadata);
  const std::span<const std::byte> data = bytes.subspan(reader.position());
  std::set<std::string_view> names;
  std::uint64_t end = 0;
  for (const SafetensorsEntry& entry : header.entries) {
    if (!names.insert(entry.name).second) {
      return Error::of(ErrorCode::corrupt, "expected every tensor name once, found ", Quoted{entry.name}, " again");
    }
    Result<TensorRecord> record = place(entry, end, data);
    if (!record.ok()) return record.error().within("tensor ", Quoted{entry.name});
    file.records_.push_back(record.value());
    end = entry.end;
  }
  if (end != data.size()) {
    return Error::of(ErrorCode::corrupt, "expected tensors that cover all ", data.size(),
                     " bytes after the header, found an end at ", end);
  }
  file.names_.reserve(header.entries.size());
  for (std::size_t index = 0; index < header.entries.size(); ++index) {
    file.records_[index].name = file.names_.emplace_back(std::move(header.entries[index].name));
  }
  return file;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  MappedFile mapped = TRY(MappedFile::open(path));
  Result<SafetensorsFile> parsed = parse(mapped.bytes());
  if (!parsed.ok()) return parsed.error().within(Quoted{path});
  SafetensorsFile file = std::move(parsed).value();
  file.file_ = std::move(mapped);
  return file;
}

}  // namespace ingot
