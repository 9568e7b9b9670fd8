#include "convert/quantizer.h"

#include <algorithm>
#include <filesystem>
#include <map>
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

// Of the folder that is given, or that holds the file that is.
std::string name_of_folder(const std::string& input) {
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::canonical(input, ignored);
  return (std::filesystem::is_directory(path, ignored) ? path : path.parent_path()).filename().string();
}

bool holds_numbers(DType dtype) { return is_floating_point(dtype) || is_block_format(dtype); }

}  // namespace

std::uint64_t PlannedTensor::bytes_before() const { return packed_bytes(from(), shape); }
std::uint64_t PlannedTensor::bytes_after() const { return packed_bytes(to(), shape); }

Result<Quantizer> Quantizer::open(const std::string& input, const QuantizeOptions& options) {
  Quantizer quantizer;
  quantizer.input_ = input;
  ModelFile file = TRY(ModelFile::open(input));
  if (file.format() == ModelFile::Format::gguf) {
    quantizer.file_ = std::move(file);
    TRY(quantizer.read_gguf());
  } else {
    TRY(quantizer.read_hugging_face());
  }
  TRY(quantizer.choose(options));
  return quantizer;
}

Result<Quantizer> Quantizer::of(const Metadata& metadata, const Weights& weights, const QuantizeOptions& options) {
  Quantizer quantizer;
  TRY(quantizer.read_weights(metadata, weights));
  TRY(quantizer.choose(options));
  return quantizer;
}

// Any GGUF file will do, of an architecture that is known or not: names and
// numbers stay as they are.
Result<void> Quantizer::read_gguf() {
  metadata_ = file_->metadata();
  for (const StoredTensor& tensor : file_->tensors()) {
    if (names_interleaved(tensor.name)) {
      return Error::of(ErrorCode::unsupported, input_, ": expected weights as rows, found ", tensor.name,
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

Result<void> Quantizer::read_hugging_face() {
  model_ = TRY(Model::open(input_));
  TRY(read_weights(model_->metadata(), model_->weights()));
  metadata_.set_text("general.name", name_of_folder(input_));
  const Result<const Tokenizer*> tokenizer = model_->tokenizer();
  if (tokenizer.ok()) {
    add_tokenizer_keys(*tokenizer.value(), model_->facts().vocabulary, metadata_, notes_);
  } else {
    notes_.push_back("no tokenizer is written: " + std::string(tokenizer.error().text()));
  }
  // Other readers ask for a word here also where there is no tokenizer.
  constexpr std::string_view tokenizer_key = "tokenizer.ggml.model";
  if (!metadata_.has(tokenizer_key)) metadata_.set_text(tokenizer_key, "no_vocab");
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

// The one of the type that most numbers of matrices have.
Result<const TypeMix*> Quantizer::stored_mix() const {
  std::map<DType, std::int64_t> counts;
  for (const PlannedTensor& tensor : tensors_) {
    if (tensor.shape.rank() > 1 && is_floating_point(tensor.from()))
      counts[tensor.from()] += element_count(tensor.shape);
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  return find_type_mix(name_of(most == counts.end() ? DType::f32 : most->first));
}

Result<void> Quantizer::choose(const QuantizeOptions& options) {
  if (options.mix == nullptr && file_) {
    for (PlannedTensor& tensor : tensors_) tensor.conversion.target = tensor.from();
    return {};
  }
  const TypeMix* mix = options.mix != nullptr ? options.mix : TRY(stored_mix());
  metadata_.set_scalar("general.file_type", mix->file_type);
  metadata_.set_scalar("general.quantization_version", quantization_version);
  std::vector<NamedShape> shapes;
  for (const PlannedTensor& tensor : tensors_) shapes.push_back({tensor.name, tensor.shape});
  const std::vector<TypeChoice> choices = choose_types(*mix, read_mix_facts(metadata_), options.rules, shapes);
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
                     std::string(name_of(mix->base)) + " or its kind: they get a format of smaller blocks");
  }
  return {};
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
