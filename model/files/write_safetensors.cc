#include "model/files/write_safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/files/quoted.h"
#include "model/files/safetensors_header.h"

namespace ingot {

namespace {

constexpr std::uint64_t safetensors_alignment = 8;

struct PlacedTensor {
  const TensorToWrite* tensor;
  const SafetensorsType* type;
  std::uint64_t byte_count;
  std::uint64_t begin = 0;  // in the data
};

Result<std::string> json_text_of(std::string_view text) {
  using nlohmann::json;
  const std::string given(text);
  // The only handling of bad UTF-8 that neither throws nor invents drops it: then the text reads back as another.
  std::string written = json(given).dump(-1, ' ', false, json::error_handler_t::ignore);
  if (json::parse(written, nullptr, false) != json(given)) {
    return Error::of(ErrorCode::invalid_argument, "expected text in UTF-8, found ", Quoted{text});
  }
  return written;
}

Result<std::string> metadata_json(const Metadata& metadata) {
  std::vector<const Metadata::Entry*> entries;
  for (const Metadata::Entry& entry : metadata.entries()) entries.push_back(&entry);
  std::ranges::sort(entries, {}, [](const Metadata::Entry* entry) { return entry->key; });
  std::string written = "{";
  for (const Metadata::Entry* entry : entries) {
    if (entry->value.is_list || entry->value.kind != ValueKind::text) {
      return Error::of(ErrorCode::invalid_argument, "metadata ", Quoted{entry->key}, ": expected text, found ",
                       entry->value.is_list ? "a list of " : "", name_of(entry->value.kind));
    }
    Result<std::string> key = json_text_of(entry->key), value = json_text_of(entry->value.text());
    if (!key.ok()) return key.error().within("metadata, a key");
    if (!value.ok()) return value.error().within("metadata ", Quoted{entry->key});
    written += (written.size() > 1 ? "," : "") + key.value() + ":" + value.value();
  }
  return written + "}";
}

Result<PlacedTensor> sized(const TensorToWrite& tensor) {
  const SafetensorsType* type = find_safetensors_type(tensor.dtype);
  if (type == nullptr) {
    return Error::of(ErrorCode::unsupported, "expected a type that safetensors can store, found ", tensor.dtype);
  }
  if (tensor.name == safetensors_metadata_name) {
    return Error::of(ErrorCode::invalid_argument, "expected a name for a tensor, found the metadata's");
  }
  return PlacedTensor{&tensor, type, TRY(packed_byte_count(tensor.shape, 1, type->bits / 8))};
}

// In the order of their data.
Result<std::vector<PlacedTensor>> placed(std::span<const TensorToWrite> tensors) {
  std::vector<PlacedTensor> all;
  all.reserve(tensors.size());
  for (const TensorToWrite& tensor : tensors) {
    Result<PlacedTensor> one = sized(tensor);
    if (!one.ok()) return one.error().within("tensor ", Quoted{tensor.name});
    all.push_back(one.value());
  }
  std::ranges::sort(all, {}, [](const PlacedTensor& one) { return std::pair(-one.type->bits, one.tensor->name); });
  std::uint64_t end = 0;
  for (PlacedTensor& one : all) {
    one.begin = end;
    end += one.byte_count;
  }
  return all;
}

Result<std::string> header_json(const Metadata& metadata, std::vector<PlacedTensor> tensors) {
  std::ranges::sort(tensors, {}, [](const PlacedTensor& one) { return one.tensor->name; });
  std::string written = "{";
  if (!metadata.entries().empty()) {
    written += "\"" + std::string(safetensors_metadata_name) + "\":" + TRY(metadata_json(metadata));
  }
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const PlacedTensor& one = tensors[index];
    if (index > 0 && tensors[index - 1].tensor->name == one.tensor->name) {
      return Error::of(ErrorCode::invalid_argument, "expected every tensor name once, found ", Quoted{one.tensor->name},
                       " again");
    }
    Result<std::string> name = json_text_of(one.tensor->name);
    if (!name.ok()) return name.error().within("the name of a tensor");
    written += (written.size() > 1 ? "," : "") + name.value() + ":{\"dtype\":\"" + std::string(one.type->name) +
               "\",\"shape\":" + std::string(text_of("", one.tensor->shape).view()) + ",\"data_offsets\":[" +
               std::to_string(one.begin) + "," + std::to_string(one.begin + one.byte_count) + "]}";
  }
  written += "}";
  written.resize(align_up(written.size(), safetensors_alignment), ' ');
  if (written.size() > longest_safetensors_header) {
    return Error::of(ErrorCode::invalid_argument, "header length: expected at most ", longest_safetensors_header,
                     ", found ", written.size());
  }
  return written;
}

}  // namespace

Result<void> write_safetensors(const std::string& path, const Metadata& metadata,
                               std::span<const TensorToWrite> tensors) {
  const std::vector<PlacedTensor> all = TRY(placed(tensors));
  const std::string header = TRY(header_json(metadata, all));
  const std::uint64_t length = header.size();
  ReplacedFile file = TRY(ReplacedFile::create(path));
  TRY(file.write(std::as_bytes(std::span(&length, 1))));
  TRY(file.write(std::as_bytes(std::span(header))));
  for (const PlacedTensor& one : all) TRY(write_tensor_data(file, *one.tensor, one.byte_count));
  return file.commit();
}

}  // namespace ingot
