#include "engine/sequence_file.h"

#include <algorithm>
#include <cstring>

#include "engine/model_sum.h"
#include "model/files/quoted.h"
#include "model/files/safetensors.h"
#include "model/files/write_safetensors.h"

namespace ingot {
namespace {

constexpr std::string_view model_key = "sequence.model", form_key = "sequence.form", sum_key = "sequence.sum";
constexpr std::string_view tokens_name = "tokens", waiting_name = "tokens.waiting", part_prefix = "memory.";

std::string name_of_model(const Session& session) {
  Sum sum;
  add_model(session.model(), sum);
  return sum.hexadecimal();
}

// What bytes mean follows from this, beside the model.
std::string form_of(const Session& session, const AdapterScales& adapters) {
  const CacheGeometry& geometry = session.geometry();
  std::string form =
      "1, " + std::string(name_of(geometry.dtype)) + ", pages of " + std::to_string(geometry.page_length);
  if (geometry.ring_pages > 0) {
    form += ", rings of " + std::to_string(geometry.ring_pages) + " for " + std::to_string(geometry.ring_window);
  }
  for (std::size_t index = 0; index < adapters.size(); ++index) {
    if (adapters[index] == 0) continue;
    Sum sum;
    add_adapter(*session.options().adapters[index], sum);
    sum.add(std::as_bytes(std::span(&adapters[index], 1)));
    form += ", adapter " + sum.hexadecimal();
  }
  return form;
}

using TokenSpan = std::span<const std::int32_t>;

std::string sum_of(TokenSpan held, TokenSpan waiting, std::span<const SequenceMemory::Part> parts) {
  Sum sum;
  sum.add(std::as_bytes(held));
  sum.add(std::as_bytes(waiting));
  for (const SequenceMemory::Part& part : parts) {
    sum.add(part.name);
    for (const std::span<const std::byte> piece : part.pieces) sum.add(piece);
  }
  return sum.hexadecimal();
}

Result<void> require_host(Session& session) {
  if (session.sequences().is_on_host()) return {};
  return Error::of(ErrorCode::unsupported,
                   "expected a session on the CPU, found one on a device: its sequences are neither written nor read");
}

Result<void> require_same(const Metadata& metadata, std::string_view key, std::string_view expected,
                          std::string_view what) {
  const std::string_view found = TRY(metadata.text(key));
  if (found == expected) return {};
  return Error::of(ErrorCode::invalid_argument, "expected ", what, " (", expected, "), found another (", Quoted{found},
                   ")");
}

std::size_t bytes_of(const SequenceMemory::Part& part) {
  std::size_t bytes = 0;
  for (const std::span<const std::byte> piece : part.pieces) bytes += piece.size();
  return bytes;
}

TensorToWrite tensor_of(std::string_view name, const SequenceMemory::Part& part) {
  return {.name = name,
          .dtype = DType::u8,
          .shape = {static_cast<std::int64_t>(bytes_of(part))},
          .produce = [&part](const ByteSink& sink) -> Result<void> {
            for (const std::span<const std::byte> piece : part.pieces) TRY(sink(piece));
            return {};
          }};
}

TensorToWrite tensor_of(std::string_view name, TokenSpan tokens) {
  return tensor_to_write(name, DType::i32, {std::ssize(tokens)}, std::as_bytes(tokens));
}

Result<void> require_tokens(TokenSpan tokens, std::int64_t vocabulary, ErrorCode code) {
  const auto wrong = std::ranges::find_if(tokens, [&](std::int32_t token) { return token < 0 || token >= vocabulary; });
  if (wrong == tokens.end()) return {};
  return Error::of(code, "expected tokens from 0 to ", vocabulary - 1, ", found ", *wrong);
}

// Those of a tensor; none where there is no such tensor.
Result<std::vector<std::int32_t>> read_tokens(const StoredTensors& tensors, std::string_view name,
                                              std::int64_t vocabulary) {
  std::vector<std::int32_t> tokens;
  const StoredTensor* found = tensors.find(name);
  if (found == nullptr) return tokens;
  if (found->view.dtype() != DType::i32) {
    return Error::of(ErrorCode::corrupt, "expected tokens as whole numbers of 32 bits, found ",
                     name_of(found->view.dtype()));
  }
  const View<const std::int32_t> stored = found->view.as<const std::int32_t>();
  tokens.assign(stored.data(), stored.data() + stored.count());
  TRY(require_tokens(tokens, vocabulary, ErrorCode::corrupt));
  return tokens;
}

Result<void> read_part(const StoredTensors& tensors, const SequenceMemory::Part& part) {
  const StoredTensor* found = tensors.find(std::string(part_prefix) + part.name);
  const std::size_t expected = bytes_of(part);
  const std::size_t bytes =
      found == nullptr ? 0 : static_cast<std::size_t>(row_bytes(found->view.dtype(), found->view.count()));
  if (bytes != expected) {
    return Error::of(ErrorCode::corrupt, "expected ", expected, " bytes of ", part.name, ", found ", bytes);
  }
  const std::byte* from = expected == 0 ? nullptr : found->view.data();
  for (const std::span<std::byte> piece : part.pieces) {
    std::memcpy(piece.data(), from, piece.size());
    from += piece.size();
  }
  return {};
}

Result<std::vector<std::int32_t>> read_checked(Session& session, int sequence, const SafetensorsFile& file) {
  SequenceMemory& memory = session.sequences();
  const Metadata& metadata = file.metadata();
  TRY(require_same(metadata, model_key, name_of_model(session), "a sequence of this model"));
  TRY(require_same(metadata, form_key, form_of(session, memory.adapters(sequence)),
                   "keys and values as this session keeps them"));
  const StoredTensors tensors = TRY(file.tensors());
  const std::int64_t vocabulary = session.model().facts().vocabulary;
  std::vector<std::int32_t> held = TRY(read_tokens(tensors, tokens_name, vocabulary));
  const std::vector<std::int32_t> waiting = TRY(read_tokens(tensors, waiting_name, vocabulary));
  TRY(memory.lengthen_unwritten(sequence, std::ssize(held)));
  const auto fill = [&]() -> Result<void> {
    const std::vector<SequenceMemory::Part> parts = memory.parts(sequence);
    for (const SequenceMemory::Part& part : parts) TRY(read_part(tensors, part));
    return require_same(metadata, sum_key, sum_of(held, waiting, parts), "the file's checksum");
  };
  const Result<void> filled = fill();
  if (!filled.ok()) {
    TRY(memory.truncate(sequence, 0));
    return filled.error();
  }
  held.insert(held.end(), waiting.begin(), waiting.end());
  return held;
}

}  // namespace

Result<void> write_sequence(Session& session, int sequence, TokenSpan tokens, const std::string& path) {
  TRY(require_host(session));
  const auto length = static_cast<std::size_t>(session.sequences().length(sequence));
  if (tokens.size() < length) {
    return Error::of(ErrorCode::invalid_argument, "expected all ", length, " tokens of the sequence, found ",
                     tokens.size());
  }
  TRY(require_tokens(tokens, session.model().facts().vocabulary, ErrorCode::out_of_range));
  const TokenSpan held = tokens.first(length), waiting = tokens.subspan(length);
  const std::vector<SequenceMemory::Part> parts = session.sequences().parts(sequence);
  Metadata metadata;
  metadata.set_text(model_key, name_of_model(session));
  metadata.set_text(form_key, form_of(session, session.sequences().adapters(sequence)));
  metadata.set_text(sum_key, sum_of(held, waiting, parts));
  std::vector<std::string> names;
  for (const SequenceMemory::Part& part : parts) names.push_back(std::string(part_prefix) + part.name);
  std::vector<TensorToWrite> tensors;
  for (std::size_t index = 0; index < parts.size(); ++index) tensors.push_back(tensor_of(names[index], parts[index]));
  if (!held.empty()) tensors.push_back(tensor_of(tokens_name, held));
  if (!waiting.empty()) tensors.push_back(tensor_of(waiting_name, waiting));
  return write_safetensors(path, metadata, tensors);
}

Result<std::vector<std::int32_t>> read_sequence(Session& session, int sequence, const std::string& path) {
  TRY(require_host(session));
  if (const std::int64_t length = session.sequences().length(sequence); length > 0) {
    return Error::of(ErrorCode::invalid_argument, "expected an empty sequence to read into, found one of ", length,
                     " tokens: truncate it to 0, or add another");
  }
  const SafetensorsFile file = TRY(SafetensorsFile::open(path));
  Result<std::vector<std::int32_t>> read = read_checked(session, sequence, file);
  if (!read.ok()) return read.error().within(Quoted{path});
  return read;
}

}  // namespace ingot
