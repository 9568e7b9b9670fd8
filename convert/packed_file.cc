#include "convert/packed_file.h"

#include <set>
#include <vector>

#include "convert/output_path.h"
#include "engine/model.h"
#include "kernels/contract/weight_layout.h"
#include "model/circuit/builder.h"
#include "model/files/gguf_writer.h"
#include "model/plan/packed_weights.h"

namespace ingot {
namespace {

Result<ModelFile> open_gguf(const std::string& input, const std::string& output) {
  TRY(require_other_file(input, output));
  ModelFile file = TRY(ModelFile::open(input));
  if (file.format() != ModelFile::Format::gguf) {
    return Error::of(ErrorCode::unsupported, "'", input, "': expected a GGUF file, found ", name_of(file.format()),
                     ": write one with ingot quantize");
  }
  return file;
}

// Of one braid, into memory for as many rows.
using MoveBraid = void (*)(const ConstAnyView& from, const AnyView& to);

void pack_braid(const ConstAnyView& rows, const AnyView& packed) { interleave_rows(rows, 0, interleaved_rows, packed); }

void unpack_braid(const ConstAnyView& packed, const AnyView& rows) {
  for (std::int64_t row = 0; row < interleaved_rows; ++row) gather_row(packed, row, rows.row(row));
}

Result<void> move_tensor(const ConstAnyView& view, MoveBraid move, const ByteSink& sink) {
  const Shape braid = {interleaved_rows, view.size(1)};
  std::vector<std::byte> moved(static_cast<std::size_t>(interleaved_rows * row_bytes(view.dtype(), view.size(1))));
  for (std::int64_t row = 0; row < view.size(0); row += interleaved_rows) {
    move(ConstAnyView(view.row(row), view.dtype(), braid), AnyView(moved.data(), view.dtype(), braid));
    TRY(sink(moved));
  }
  return {};
}

// The file's tensors, those that `new_names` names moved and under their new name.
using NewNames = std::map<std::string, std::string, std::less<>>;
Result<PackedFileReport> write_moved(const ModelFile& file, const std::string& output, const NewNames& new_names,
                                     MoveBraid move, const TensorMoved& moved) {
  const auto count = static_cast<int>(new_names.size());
  std::vector<TensorToWrite> tensors;
  for (const StoredTensor& tensor : file.tensors()) {
    const auto found = new_names.find(tensor.name);
    tensors.push_back(tensor_to_write(tensor));
    if (found == new_names.end()) continue;
    tensors.back().name = found->second;
    tensors.back().produce = [&tensor, &moved, move, count](const ByteSink& sink) {
      if (moved) moved(tensor.name, count);
      return move_tensor(tensor.view, move, sink);
    };
  }
  TRY(write_gguf(output, file.metadata(), tensors));
  return PackedFileReport{static_cast<int>(tensors.size()), count};
}

}  // namespace

Result<PackedFileReport> pack_model_file(const std::string& input, const std::string& output,
                                         const TensorMoved& moved) {
  const ModelFile file = TRY(open_gguf(input, output));
  const std::shared_ptr<const Model> model = TRY(Model::open(input));
  CircuitBuilder builder(model->weights(), {.runs = {1}, .outputs = 1});
  model->form().emit(builder);
  const Circuit circuit = TRY(builder.finish());
  NewNames names;
  for (const int tensor : find_packable_weights(circuit)) {
    const std::string& name = circuit.tensors[static_cast<std::size_t>(tensor)].name;
    names.emplace(name, name + std::string(interleaved_suffix));
  }
  if (names.empty()) {
    return Error::of(
        ErrorCode::unsupported, "'", input, "': expected products with weights of type q4_0, q8_0, ",
        "q5_0, q4_k or q6_k in whole eights of rows, found none that nothing but products and lookups reads");
  }
  return write_moved(file, output, names, pack_braid, moved);
}

Result<PackedFileReport> unpack_model_file(const std::string& input, const std::string& output,
                                           const TensorMoved& moved) {
  const ModelFile file = TRY(open_gguf(input, output));
  NewNames names;
  for (const StoredTensor& tensor : file.tensors()) {
    if (!names_interleaved(tensor.name)) continue;
    TRY(require_interleaved("unpacking", "C1", tensor.name, tensor.view));
    const std::string name(tensor.name);
    names.emplace(name, name.substr(0, name.size() - interleaved_suffix.size()));
  }
  if (names.empty()) {
    return Error::of(ErrorCode::unsupported, "'", input, "': expected packed weights, found none");
  }
  return write_moved(file, output, names, unpack_braid, moved);
}

}  // namespace ingot
