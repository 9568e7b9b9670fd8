#include "model/files/llama2c.h"

#include "model/files/byte_reader.h"
#include "model/files/quoted.h"

namespace ingot {

namespace {

struct Header {
  std::int64_t width, hidden, layers, heads, key_value_heads, vocabulary, context;
  bool shares_classifier;

  std::int64_t head_width() const { return width / heads; }
  std::int64_t key_value_width() const { return head_width() * key_value_heads; }
};

// Far above any real model; sizes below it keep every product of two within 63 bits.
constexpr std::int64_t largest_size = std::int64_t{1} << 24;

Result<std::int64_t> take_size(ByteReader& reader, std::string_view field) {
  const auto size = TRY(reader.take<std::int32_t>(field));
  if (size < 1 || size > largest_size) {
    return Error::of(ErrorCode::corrupt, field, ": expected 1 to ", largest_size, ", found ", size);
  }
  return std::int64_t{size};
}

Result<Header> take_header(ByteReader& reader) {
  Header header{};
  header.width = TRY(take_size(reader, "dim"));
  header.hidden = TRY(take_size(reader, "hidden_dim"));
  header.layers = TRY(take_size(reader, "n_layers"));
  header.heads = TRY(take_size(reader, "n_heads"));
  header.key_value_heads = TRY(take_size(reader, "n_kv_heads"));
  // Negative: the classifier has weights of its own.
  const std::int64_t vocabulary = TRY(reader.take<std::int32_t>("vocab_size"));
  header.shares_classifier = vocabulary > 0;
  header.vocabulary = vocabulary > 0 ? vocabulary : -vocabulary;
  if (header.vocabulary < 3 || header.vocabulary > largest_size) {
    return Error::of(ErrorCode::corrupt, "vocab_size: expected 3 to ", largest_size, " tokens, found ", vocabulary);
  }
  header.context = TRY(take_size(reader, "seq_len"));
  if (header.width % header.heads != 0 || header.head_width() % 2 != 0) {
    return Error::of(ErrorCode::corrupt, "n_heads: expected to divide dim ", header.width, " into even parts, found ",
                     header.heads);
  }
  if (header.heads % header.key_value_heads != 0) {
    return Error::of(ErrorCode::corrupt, "n_kv_heads: expected a divisor of n_heads ", header.heads, ", found ",
                     header.key_value_heads);
  }
  return header;
}

// One weight of the file: all layers of it lie together.
struct Weight {
  std::string_view name;  // within its layer, or of the whole model
  Shape shape;
  bool is_per_layer;
};

std::vector<Weight> weights_of(const Header& header) {
  const std::int64_t width = header.width;
  const std::int64_t hidden = header.hidden;
  std::vector<Weight> weights = {
      {"token_embd.weight", {header.vocabulary, width}, false},
      {"attn_norm.weight", {width}, true},
      {"attn_q.weight", {width, width}, true},
      {"attn_k.weight", {header.key_value_width(), width}, true},
      {"attn_v.weight", {header.key_value_width(), width}, true},
      {"attn_output.weight", {width, width}, true},
      {"ffn_norm.weight", {width}, true},
      {"ffn_gate.weight", {hidden, width}, true},
      {"ffn_down.weight", {width, hidden}, true},
      {"ffn_up.weight", {hidden, width}, true},
      {"output_norm.weight", {width}, false},
      // Tables of cosines and sines, which follow from the sizes.
      {"", {header.context, header.head_width()}, false},
  };
  if (!header.shares_classifier) weights.push_back({"output.weight", {header.vocabulary, width}, false});
  return weights;
}

// Compared before anything is listed, so that no list is longer than the file can justify.
Result<void> check_size(const Header& header, const std::vector<Weight>& weights, std::uint64_t available) {
  std::int64_t expected = 0;
  for (const Weight& weight : weights) {
    const std::int64_t elements =
        TRY(checked_multiply(element_count(weight.shape), weight.is_per_layer ? header.layers : 1));
    const std::int64_t bytes = TRY(checked_multiply(elements, sizeof(float)));
    expected = TRY(checked_add(expected, bytes));
  }
  if (static_cast<std::uint64_t>(expected) != available) {
    return Error::of(ErrorCode::corrupt, "expected ", expected, " bytes as the header says, found ", available);
  }
  return {};
}

enum class TokenType : std::int32_t { normal = 1, unknown = 2, control = 3, byte = 6 };

struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<std::int32_t> types;
};

bool is_hexadecimal(char digit) { return (digit >= '0' && digit <= '9') || (digit >= 'A' && digit <= 'F'); }

bool is_byte_token(std::string_view text) {
  return text.size() == 6 && text.starts_with("<0x") && is_hexadecimal(text[3]) && is_hexadecimal(text[4]) &&
         text[5] == '>';
}

// GGUF keeps a space as U+2581, the way sentencepiece does.
std::string with_marked_spaces(std::string_view text) {
  std::string marked;
  for (char character : text) {
    if (character == ' ') {
      marked += "\u2581";
    } else {
      marked += character;
    }
  }
  return marked;
}

void append_token(Vocabulary& vocabulary, std::string_view text, float score) {
  constexpr std::string_view special[] = {"<unk>", "<s>", "</s>"};  // ids 0, 1 and 2, whatever the file calls them
  const std::size_t id = vocabulary.tokens.size();
  TokenType type = TokenType::normal;
  if (id < std::size(special)) {
    type = id == 0 ? TokenType::unknown : TokenType::control;
    text = special[id];
  } else if (text.empty()) {
    type = TokenType::control;
  } else if (is_byte_token(text)) {
    type = TokenType::byte;
  }
  vocabulary.tokens.push_back(with_marked_spaces(text));
  vocabulary.scores.push_back(score);
  vocabulary.types.push_back(static_cast<std::int32_t>(type));
}

Result<Vocabulary> read_vocabulary(std::span<const std::byte> bytes, std::int64_t count) {
  ByteReader reader(bytes);
  const auto longest = TRY(reader.take<std::int32_t>("max_token_length"));
  Vocabulary vocabulary;
  for (std::int64_t id = 0; id < count; ++id) {
    const auto score = TRY(reader.take<float>("token score"));
    const auto length = TRY(reader.take<std::int32_t>("token length"));
    if (length < 0 || length > longest) {
      return Error::of(ErrorCode::corrupt, "token ", id, ": expected a length from 0 to max_token_length ", longest,
                       ", found ", length);
    }
    const std::span<const std::byte> text = TRY(reader.take_bytes(static_cast<std::uint64_t>(length), "token text"));
    append_token(vocabulary, {reinterpret_cast<const char*>(text.data()), text.size()}, score);
  }
  if (reader.remaining() != 0) {
    return Error::of(ErrorCode::corrupt, "vocabulary: expected its end after ", count, " tokens, found ",
                     reader.remaining(), " bytes more");
  }
  return vocabulary;
}

Metadata describe_model(const Header& header, const Vocabulary& vocabulary) {
  const auto count = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  Metadata metadata;
  metadata.set_text("general.architecture", "llama");
  metadata.set_scalar("llama.context_length", count(header.context));
  metadata.set_scalar("llama.embedding_length", count(header.width));
  metadata.set_scalar("llama.block_count", count(header.layers));
  metadata.set_scalar("llama.feed_forward_length", count(header.hidden));
  metadata.set_scalar("llama.rope.dimension_count", count(header.head_width()));
  metadata.set_scalar("llama.rope.freq_base", 10000.0f);
  metadata.set_scalar("llama.attention.head_count", count(header.heads));
  metadata.set_scalar("llama.attention.head_count_kv", count(header.key_value_heads));
  metadata.set_scalar("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  metadata.set_scalar("llama.vocab_size", count(header.vocabulary));
  metadata.set_text("tokenizer.ggml.model", "llama");
  const std::vector<std::string_view> tokens(vocabulary.tokens.begin(), vocabulary.tokens.end());
  metadata.set_text_list("tokenizer.ggml.tokens", tokens);
  metadata.set_scalar_list<float>("tokenizer.ggml.scores", vocabulary.scores);
  metadata.set_scalar_list<std::int32_t>("tokenizer.ggml.token_type", vocabulary.types);
  metadata.set_scalar("tokenizer.ggml.unknown_token_id", count(0));
  metadata.set_scalar("tokenizer.ggml.bos_token_id", count(1));
  metadata.set_scalar("tokenizer.ggml.eos_token_id", count(2));
  metadata.set_boolean("tokenizer.ggml.add_bos_token", true);
  metadata.set_boolean("tokenizer.ggml.add_eos_token", false);
  metadata.set_boolean("tokenizer.ggml.add_space_prefix", true);
  return metadata;
}

}  // namespace

Result<Llama2cFile> Llama2cFile::parse(std::span<const std::byte> model, std::span<const std::byte> vocabulary) {
  ByteReader reader(model);
  const Header header = TRY(take_header(reader));
  const std::vector<Weight> weights = weights_of(header);
  const Result<void> sized = check_size(header, weights, reader.remaining());
  if (!sized.ok()) return sized.error().within("weights");
  const Vocabulary read = TRY(read_vocabulary(vocabulary, header.vocabulary));

  Llama2cFile file;
  file.metadata_ = describe_model(header, read);
  std::vector<TensorRecord> records;
  for (const Weight& weight : weights) {
    const auto bytes = static_cast<std::uint64_t>(element_count(weight.shape)) * sizeof(float);
    for (std::int64_t layer = 0; layer < (weight.is_per_layer ? header.layers : 1); ++layer) {
      const std::span<const std::byte> data = TRY(reader.take_bytes(bytes, weight.name));
      if (weight.name.empty()) continue;
      std::string name;
      if (weight.is_per_layer) name.append("blk.").append(std::to_string(layer)).append(".");
      name += weight.name;
      file.names_.push_back(std::move(name));
      records.push_back({"", name_of(DType::f32), std::nullopt, DType::f32, weight.shape, bytes, data});
    }
  }
  for (std::size_t index = 0; index < records.size(); ++index) records[index].name = file.names_[index];
  file.tensors_ = TRY(StoredTensors::of(records));
  return file;
}

Result<Llama2cFile> Llama2cFile::open(const std::string& model_path, const std::string& vocabulary_path) {
  MappedFile model = TRY(MappedFile::open(model_path));
  const MappedFile vocabulary = TRY(MappedFile::open(vocabulary_path));
  Result<Llama2cFile> parsed = parse(model.bytes(), vocabulary.bytes());
  if (!parsed.ok()) return parsed.error().within(Quoted{model_path}, " with ", Quoted{vocabulary_path});
  Llama2cFile file = std::move(parsed).value();
  file.file_ = std::move(model);
  return file;
}

}  // namespace ingot
