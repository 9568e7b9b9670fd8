#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/terminal.h"
#include "convert/output_path.h"
#include "engine/model.h"
#include "train/data/encode_text.h"
#include "train/data/text_file.h"
#include "train/data/token_shard.h"
#include "train/tokenizer/tokenizer_json.h"
#include "train/tokenizer/train_tokenizer.h"

namespace ingot::tokenizer_command {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot tokenizer train tales.txt --vocabulary 2048 --output tokenizer.json\n"
    "  ingot tokenizer encode tales.txt --tokenizer tokenizer.json --output tales.tokens";

constexpr const char* train_examples =
    "Byte-level byte-pair encoding: every text can be said in it. Documents end at the first special token.\n"
    "\n"
    "Examples:\n"
    "  ingot tokenizer train tales.txt --vocabulary 2048 --output tokenizer.json\n"
    "  ingot tokenizer train a.txt b.txt --vocabulary 32000 --pattern gpt-2 --output tokenizer.json\n"
    "  ingot tokenizer train chat.txt --vocabulary 4096 --special '<|end|>' --special '<|user|>' --output t.json";

constexpr const char* encode_examples =
    "Documents end at <|end|>, or at the end of text that the tokenizer names, and at the end of a file; that token "
    "is\n"
    "written after each. The file says which tokenizer it belongs to.\n"
    "\n"
    "Examples:\n"
    "  ingot tokenizer encode tales.txt --tokenizer tokenizer.json --output tales.tokens\n"
    "  ingot tokenizer encode a.txt b.txt --tokenizer model.gguf --output both.tokens --json";

struct TrainOptions {
  std::vector<std::string> texts;
  TokenizerTraining training;
  std::string output;
  bool json = false;
};

struct EncodeCommandOptions {
  std::vector<std::string> texts;
  std::string tokenizer;
  std::string output;
  bool json = false;
};

// A bar of a hundred steps over any number of them.
class PercentBar {
 public:
  explicit PercentBar(std::string_view what) : bar_(what, 100) {}

  void show(std::uint64_t done, std::uint64_t total) {
    const auto percent =
        static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(total, 1)));
    for (; shown_ < std::min(percent, 100); ++shown_) bar_.advance("");
  }

 private:
  ProgressBar bar_;
  int shown_ = 0;
};

Result<std::vector<TextFile>> open_texts(const std::vector<std::string>& paths, const std::string& output) {
  std::vector<TextFile> files;
  for (const std::string& path : paths) {
    TRY(require_other_file(path, output));
    files.push_back(TRY(TextFile::open(path)));
  }
  return files;
}

double ratio(std::uint64_t dividend, std::uint64_t divisor) {
  return static_cast<double>(dividend) / static_cast<double>(std::max<std::uint64_t>(divisor, 1));
}

void print_json(const nlohmann::json& document) {
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

Result<TrainedTokenizer> train_with_bars(std::span<const std::string_view> texts, const TokenizerTraining& training) {
  auto counting = std::make_unique<PercentBar>("counting words");
  std::unique_ptr<PercentBar> merging;
  return train_tokenizer(texts, training, [&](TrainingPhase phase, std::uint64_t done, std::uint64_t total) {
    if (phase == TrainingPhase::counting) return counting->show(done, total);
    counting.reset();
    if (merging == nullptr) merging = std::make_unique<PercentBar>("merging pairs");
    merging->show(done, total);
  });
}

Result<void> train(const TrainOptions& options) {
  const std::vector<TextFile> files = TRY(open_texts(options.texts, options.output));
  std::vector<std::string_view> texts;
  for (const TextFile& file : files) texts.push_back(file.text());
  const TrainedTokenizer trained = TRY(train_with_bars(texts, options.training));
  TRY(write_tokenizer_json(options.output, trained.description));
  const std::size_t size = trained.description.tokens.size();
  if (static_cast<std::int64_t>(size) < options.training.vocabulary) {
    std::fprintf(stderr, "%s the text has no more pairs to merge: %zu tokens instead of %lld\n",
                 coloured("note:", Colour::yellow, stderr).c_str(), size,
                 static_cast<long long>(options.training.vocabulary));
  }
  if (options.json) {
    print_json({{"output", options.output},
                {"vocabulary", size},
                {"merges", trained.description.merges.size()},
                {"special_tokens", options.training.special_tokens},
                {"pattern", options.training.pattern},
                {"bytes", trained.bytes},
                {"characters", trained.characters},
                {"words", trained.words},
                {"distinct_words", trained.distinct_words},
                {"tokens", trained.tokens},
                {"tokens_per_character", ratio(trained.tokens, trained.characters)}});
    return {};
  }
  std::printf("wrote %s: %zu tokens from %llu distinct words\n", options.output.c_str(), size,
              static_cast<unsigned long long>(trained.distinct_words));
  std::printf("the text: %llu characters, %llu tokens, %.4f tokens a character (%.2f characters a token)\n",
              static_cast<unsigned long long>(trained.characters), static_cast<unsigned long long>(trained.tokens),
              ratio(trained.tokens, trained.characters), ratio(trained.characters, trained.tokens));
  return {};
}

Result<void> encode(const EncodeCommandOptions& options) {
  TRY(require_other_file(options.tokenizer, options.output));
  const Tokenizer tokenizer = TRY(open_tokenizer(options.tokenizer));
  const std::vector<TextFile> files = TRY(open_texts(options.texts, options.output));
  std::uint64_t total = 0;
  for (const TextFile& file : files) total += file.text().size();

  TokenShardWriter writer = TRY(TokenShardWriter::create(options.output, origin_of(tokenizer)));
  const TokenId separator = document_separator(tokenizer);
  std::uint64_t done = 0;
  {
    PercentBar bar("encoding");
    for (const TextFile& file : files) {
      TRY(encode_text(
          file.text(), tokenizer, separator, [&](std::span<const TokenId> ids) { return writer.append(ids); },
          [&](std::uint64_t now) { bar.show(done + now, total); }));
      done += file.text().size();
    }
  }
  TRY(writer.commit());
  if (options.json) {
    print_json({{"output", options.output},
                {"vocabulary", tokenizer.vocabulary_size()},
                {"separator", separator},
                {"bytes", total},
                {"tokens", writer.size()}});
    return {};
  }
  std::printf("wrote %s: %llu tokens from %llu bytes (%.2f bytes a token)\n", options.output.c_str(),
              static_cast<unsigned long long>(writer.size()), static_cast<unsigned long long>(total),
              ratio(total, writer.size()));
  return {};
}

void add_train(const Command& tokenizer, int& exit_code) {
  auto options = std::make_shared<TrainOptions>();
  const Command command = tokenizer.add_subcommand("train", "make a tokenizer from texts");
  command.footer(train_examples);
  command.add_option("TEXT", options->texts, "UTF-8 text files").required();
  command.add_option("--vocabulary", options->training.vocabulary, "how many tokens, bytes and special ones included")
      .required();
  command
      .add_option("--pattern", options->training.pattern,
                  "how text is split into words, by GGUF's name: llama3, gpt-2, qwen2, gpt-4o, ...")
      .capture_default_str();
  command
      .add_option("--special", options->training.special_tokens,
                  "a special token; may be given several times, the first ends documents")
      .take_all()
      .one_word_each_time()
      .capture_default_str();
  command.add_option("--output", options->output, "the tokenizer.json to write").required();
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] {
    if (const Result<void> usable = check_training(options->training); !usable.ok()) {
      exit_code = refuse_usage(usable.error());
      return;
    }
    exit_code = finish_command(train(*options));
  });
}

void add_encode(const Command& tokenizer, int& exit_code) {
  auto options = std::make_shared<EncodeCommandOptions>();
  const Command command = tokenizer.add_subcommand("encode", "write texts as a file of tokens to train on");
  command.footer(encode_examples);
  command.add_option("TEXT", options->texts, "UTF-8 text files").required();
  command
      .add_option("--tokenizer", options->tokenizer,
                  "a tokenizer.json, a .gguf file, or a model's folder with tokenizer.json")
      .required();
  command.add_option("--output", options->output, "the file of tokens to write").required();
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = finish_command(encode(*options)); });
}

}  // namespace

void add(const Command& application, int& exit_code) {
  const Command command = application.add_subcommand("tokenizer", "make tokenizers, and tokens to train on");
  command.footer(examples);
  command.require_subcommand();
  add_train(command, exit_code);
  add_encode(command, exit_code);
}

}  // namespace ingot::tokenizer_command
