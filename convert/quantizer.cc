#include "convert/quantizer.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "convert/gguf_conventions.h"
#include "convert/output_path.h"
#include "convert/tokenizer_keys.h"

namespace ingot {
namespace {

constexpr std::uint32_t quantization_version = 2;  // of the block formats, which have not changed since

std::uint64_t packed_bytes(DType dtype, const Shape& shape) {
  return static_cast<std::uint64_t>(element_count(shape) / block_elements(dtype) * block_bytes(dtype));
}

bool holds_numbers(DType dtype) { return is_floating_point(dtype) || is_block_format(dtype); }

}  // namespace

std::uint64_t PlannedTensor::bytes_before() const { return packed_bytes(from(), shape); }
std::uint64_t PlannedTensor::bytes_after() const { return packed_bytes(to(), shape); }

Result<Quantizer> Quantizer::open(const std::string& input, const QuantizeOptions& options) {
  Quantizer quantizer;
  quantizer.input_ = input;
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(input, ignored);
  TRY(is_folder ? quantizer.read_folder(input) : quantizer.read_gguf(input));
  quantizer.choose(options);
  return quantizer;
}

Result<Quantizer> Quantizer::of(const Metadata& metadata, const Weights& weights, const QuantizeOptions& options) {
  Quantizer quantizer;
  TRY(quantizer.read_weights(metadata, weights));
  quantizer.choose(options);
  return quantizer;
}

// Any GGUF file will do, of an architecture that is known or not: names and
// numbers stay as they are.
Result<void> Quantizer::read_gguf(const std::string& input) {
  file_ = TRY(ModelFile::open(input));
  if (file_->format() != ModelFile::Format::gguf) {
    return Error::of(ErrorCode::unsupported, input, ": expected a GGUF file or a folder with config.json, found ",
                     name_of(file_->format()));
  }
  metadata_ = file_->metadata();
  if (TRY(metadata_.integer_or("split.count", 1)) > 1) {
    return Error::of(ErrorCode::unsupported, input, ": expected a whole model, found one of several files of it");
  }
  for (const StoredTensor& tensor : file_->tensors()) {
    if (names_interleaved(tensor.name)) {
      return Error::of(ErrorCode::unsupported, input, ": expected weights as rows, found ", tensor.name,
                       ": write them as rows with ingot pack --undo");
    }
    const DType dtype = tensor.view.dtype();
    const bool becomes_f32 = tensor.view.rank() < 2 && holds_numbers(dtype);
    tensors_.push_back({std::string(tensor.name),
                        tensor.view.shape(),
                        {.source = tensor.view, .target = becomes_f32 ? DType::f32 : dtype}});
  }
  return {};
}

Result<void> Quantizer::read_folder(const std::string& input) {
  model_ = TRY(Model::open(input));
  TRY(read_weights(model_->metadata(), model_->weights()));
  std::error_code ignored;
  metadata_.set_text("general.name", std::filesystem::canonical(input, ignored).filename().string());
  const Result<const Tokenizer*> tokenizer = model_->tokenizer();
  if (tokenizer.ok()) {
    add_tokenizer_keys(*tokenizer.value(), model_->facts().vocabulary, metadata_, notes_);
  } else {
    notes_.push_back("no tokenizer is written: " + std::string(tokenizer.error().text()));
  }
  if (const std::string chat = model_->chat_template(); !chat.empty()) {
    metadata_.set_text("tokenizer.chat_template", chat);
  }
  return {};
}

Result<void> Quantizer::read_weights(const Metadata& metadata, const Weights& weights) {
  GgufConventions conventions = TRY(follow_gguf_conventions(metadata, weights));
  metadata_ = std::move(conventions.metadata);
  for (const auto& [name, view] : weights.all()) {
    // What is not quantized is small, and f32 holds whatever it was.
    tensors_.push_back({name,
                        view.shape(),
                        {.source = view,
                         .target = holds_numbers(view.dtype()) ? DType::f32 : view.dtype(),
                         .interleaved_heads = conventions.interleaved_heads(name)}});
  }
  if (!conventions.rope_factors.empty() && !weights.has("rope_freqs.weight")) {
    rope_factors_ = std::make_shared<const std::vector<float>>(std::move(conventions.rope_factors));
    const Shape shape = {static_cast<std::int64_t>(rope_factors_->size())};
    const View<const float> view(rope_factors_->data(), shape);
    tensors_.push_back({"rope_freqs.weight", shape, {.source = view, .target = DType::f32}});
  }
  std::sort(tensors_.begin(), tensors_.end(), [](const PlannedTensor& left, const PlannedTensor& right) {
    return std::tuple(layer_of(left.name), std::string_view(left.name)) <
           std::tuple(layer_of(right.name), std::string_view(right.name));
  });
  return {};
}

void Quantizer::choose(const QuantizeOptions& options) {
  metadata_.set_scalar("general.file_type", options.mix->file_type);
  metadata_.set_scalar("general.quantization_version", quantization_version);
  std::vector<NamedShape> shapes;
  for (const PlannedTensor& tensor : tensors_) shapes.push_back({tensor.name, tensor.shape});
  const std::vector<TypeChoice> choices = choose_types(*options.mix, read_mix_facts(metadata_), options.rules, shapes);
  std::size_t decoded = 0;
  std::size_t fallen = 0;
  for (std::size_t index = 0; index < tensors_.size(); ++index) {
    PlannedTensor& tensor = tensors_[index];
    if (choices[index].dtype && holds_numbers(tensor.from())) {
      tensor.conversion.target = *choices[index].dtype;
      tensor.falls_back = choices[index].falls_back;
    }
    decoded += is_block_format(tensor.from()) && tensor.from() != tensor.to() ? 1 : 0;
    fallen += tensor.falls_back ? 1 : 0;
  }
  if (decoded > 0) {
    notes_.push_back(std::to_string(decoded) +
                     " tensors were quantized before: they are decoded first, "
                     "and the error they have stays");
  }
  if (fallen > 0) {
    notes_.push_back(std::to_string(fallen) + " tensors have rows that do not divide into blocks of " +
                     std::string(name_of(options.mix->base)) + " or its kind: they get a format of smaller blocks");
  }
}

Result<void> Quantizer::write(const std::string& output, const QuantizeProgress& progress) const {
  TRY(require_other_file(input_, output));
  TensorConverter converter = TRY(TensorConverter::create(progress.threads));
  std::vector<TensorToWrite> written;
  for (const PlannedTensor& tensor : tensors_) {
    written.push_back({tensor.name, tensor.to(), tensor.shape, [&](const ByteSink& sink) -> Result<void> {
                         const double error = TRY(converter.convert(tensor.conversion, sink));
                         if (progress.done) progress.done(tensor, error);
                         return {};
                       }});
  }
  return write_gguf(output, metadata_, written);
}

}  // namespace ingot
