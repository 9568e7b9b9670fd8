#include "train/record/checkpoint.h"

#include <cstring>

#include "model/files/quoted.h"
#include "model/files/write_safetensors.h"
#include "train/record/checkpoint_numbers.h"
#include "train/record/checksum.h"
#include "train/record/number_text.h"

namespace ingot {

namespace {

// What the metadata says of every tensor, under this prefix and its name.
constexpr std::string_view tensor_prefix = "tensor/";

std::string fingerprint(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  return std::string(text_of(dtype, " ", shape, " ", hexadecimal_text(checksum_of(bytes))).view());
}

template <class View>
Result<void> require_packed(const std::string& name, const View& view) {
  if (view.place() != Place::host || !view.is_contiguous() || is_block_format(view.dtype())) {
    return Error::of(ErrorCode::invalid_argument, "tensor ", Quoted{name}, ": expected packed elements on the host, ",
                     "found ", view.dtype(), " ", view.shape(), view.is_contiguous() ? "" : " with gaps",
                     view.place() == Place::host ? "" : " on a device");
  }
  if (view.data() == nullptr && !view.empty()) {
    return Error::of(ErrorCode::invalid_argument, "tensor ", Quoted{name}, ": expected data for shape ", view.shape(),
                     ", found a null pointer");
  }
  return {};
}

template <class View>
std::size_t byte_size_of(const View& view) {
  return static_cast<std::size_t>(view.count()) * static_cast<std::size_t>(block_bytes(view.dtype()));
}

Result<void> check_fingerprint(const Metadata& metadata, const TensorRecord& record) {
  const std::string_view expected = TRY(metadata.text(std::string(tensor_prefix) + std::string(record.name)));
  if (!record.dtype) {
    return Error::of(ErrorCode::corrupt, "expected type, shape and checksum ", Quoted{expected}, ", found ",
                     record.type_name);
  }
  const std::string found = fingerprint(*record.dtype, record.shape, record.bytes);
  if (found == expected) return {};
  return Error::of(ErrorCode::corrupt, "expected type, shape and checksum ", Quoted{expected}, ", found ",
                   Quoted{found}, ": the file is damaged");
}

Result<void> check_integrity(const SafetensorsFile& file) {
  TRY(check_seal(file.metadata()));
  for (const TensorRecord& record : file.records()) {
    const Result<void> checked = check_fingerprint(file.metadata(), record);
    if (!checked.ok()) return checked.error().within("tensor ", Quoted{record.name});
  }
  std::size_t described = 0;
  for (const Metadata::Entry& entry : file.metadata().entries()) described += entry.key.starts_with(tensor_prefix);
  if (described != file.records().size()) {
    return Error::of(ErrorCode::corrupt, "expected the ", described, " tensors that the metadata describes, found ",
                     file.records().size());
  }
  return {};
}

Result<void> check_target(const CheckpointTarget& target, const TensorRecord* record) {
  TRY(require_packed(target.name, target.view));
  if (record == nullptr) {
    return Error::of(ErrorCode::not_found, "tensor ", Quoted{target.name}, ": expected ", target.view.dtype(), " ",
                     target.view.shape(), ", found no such tensor in the checkpoint");
  }
  if (record->shape == target.view.shape() && record->dtype == target.view.dtype()) return {};
  return Error::of(ErrorCode::invalid_argument, "tensor ", Quoted{target.name}, ": expected ", target.view.dtype(), " ",
                   target.view.shape(), ", found a checkpoint of another shape: ", record->type_name, " ",
                   record->shape);
}

}  // namespace

Result<void> write_checkpoint(const std::string& path, const Checkpoint& checkpoint,
                              std::span<const CheckpointSource> tensors) {
  Metadata metadata = TRY(metadata_of(checkpoint));
  std::vector<TensorToWrite> all;
  all.reserve(tensors.size());
  for (const CheckpointSource& tensor : tensors) {
    TRY(require_packed(tensor.name, tensor.view));
    const std::span<const std::byte> bytes(tensor.view.data(), byte_size_of(tensor.view));
    metadata.set_text(std::string(tensor_prefix) + tensor.name,
                      fingerprint(tensor.view.dtype(), tensor.view.shape(), bytes));
    all.push_back(tensor_to_write(tensor.name, tensor.view.dtype(), tensor.view.shape(), bytes));
  }
  seal_metadata(metadata);
  return write_safetensors(path, metadata, all);
}

StoredCheckpoint::StoredCheckpoint(SafetensorsFile file) : file_(std::move(file)) {
  const std::span<const TensorRecord> records = file_.records();
  for (std::size_t index = 0; index < records.size(); ++index) positions_.emplace(records[index].name, index);
}

const TensorRecord* StoredCheckpoint::find(std::string_view name) const {
  const auto position = positions_.find(name);
  return position == positions_.end() ? nullptr : &file_.records()[position->second];
}

Result<void> StoredCheckpoint::copy_into(std::span<const CheckpointTarget> targets, std::string_view group) const {
  std::map<std::string_view, const CheckpointTarget*> by_name;
  for (const CheckpointTarget& target : targets) {
    TRY(check_target(target, find(target.name)));
    if (!by_name.emplace(target.name, &target).second) {
      return Error::of(ErrorCode::invalid_argument, "expected every target once, found ", Quoted{target.name},
                       " again");
    }
  }
  for (const TensorRecord& record : file_.records()) {
    if (!record.name.starts_with(group) || by_name.contains(record.name)) continue;
    return Error::of(ErrorCode::invalid_argument, "tensor ", Quoted{record.name},
                     ": expected only tensors that the model has, found one more in the checkpoint (", record.type_name,
                     " ", record.shape, ")");
  }
  for (const auto& [name, target] : by_name) {
    const std::span<const std::byte> bytes = find(name)->bytes;
    if (!bytes.empty()) std::memcpy(target->view.data(), bytes.data(), bytes.size());
  }
  return {};
}

Result<StoredCheckpoint> read_checkpoint(const std::string& path) {
  SafetensorsFile file = TRY(SafetensorsFile::open(path));
  // The format comes first: another kind of file is not a damaged checkpoint.
  Result<Checkpoint> numbers = checkpoint_of(file.metadata());
  if (!numbers.ok()) return numbers.error().within("checkpoint ", Quoted{path});
  const Result<void> intact = check_integrity(file);
  if (!intact.ok()) return intact.error().within("checkpoint ", Quoted{path});
  StoredCheckpoint checkpoint(std::move(file));
  checkpoint.numbers_ = std::move(numbers).value();
  return checkpoint;
}

}  // namespace ingot
