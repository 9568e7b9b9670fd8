#include "train/training_data.h"

#include <charconv>

#include "engine/model.h"
#include "model/files/quoted.h"
#include "train/data/text_file.h"
#include "train/tales/tale_corpus.h"
#include "train/tales/tale_writer.h"
#include "train/tokenizer/train_tokenizer.h"

namespace ingot {
namespace {

constexpr std::uint64_t most_tales = 100'000'000;
constexpr std::size_t most_tokenizer_text = std::size_t{16} << 20;  // merges hardly change beyond

Result<std::string> write_tales(std::string_view count_text, std::uint64_t seed, const PreparationProgress& progress) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(count_text.data(), count_text.data() + count_text.size(), count);
  if (error != std::errc() || end != count_text.data() + count_text.size() || count == 0 || count > most_tales) {
    return Error::of(ErrorCode::invalid_argument, "data: expected tales:N with N from 1 to ", most_tales, ", found ",
                     Quoted{count_text});
  }
  TaleWriter writer(seed, HeldOut::exclude);
  std::string corpus;
  for (std::uint64_t index = 0; index < count; ++index) {
    append_tale(corpus, writer.next());
    if (progress && index % 4096 == 0) {
      progress("writing tales", static_cast<double>(index) / static_cast<double>(count));
    }
  }
  return corpus;
}

// The run's texts: files and tales. Files of token ids are left to the token stream.
struct Texts {
  std::vector<TextFile> files;
  std::vector<std::string> tales;
  std::vector<std::string> paths;  // of everything that is a file
};

Result<Texts> collect(const TrainingConfiguration& configuration, bool reads_files,
                      const PreparationProgress& progress) {
  if (configuration.data.empty()) {
    return Error::of(ErrorCode::invalid_argument, "data: expected files of text or of token ids, found none");
  }
  Texts texts;
  for (const std::string& name : configuration.data) {
    if (name.starts_with(tales_prefix)) {
      texts.tales.push_back(TRY(write_tales(std::string_view(name).substr(tales_prefix.size()),
                                            static_cast<std::uint64_t>(configuration.seed), progress)));
    } else {
      if (reads_files) texts.files.push_back(TRY(TextFile::open(name)));
      texts.paths.push_back(name);
    }
  }
  return texts;
}

Result<Tokenizer> learn_tokenizer(const TrainingConfiguration& configuration, const Texts& texts,
                                  const PreparationProgress& progress) {
  std::vector<std::string_view> pieces;
  std::size_t left = most_tokenizer_text;
  const auto take = [&](std::string_view text) {
    if (text.size() > left) text = text.substr(0, text.rfind('\n', left) + 1);
    left -= text.size();
    if (!text.empty()) pieces.push_back(text);
  };
  for (const std::string& tales : texts.tales) take(tales);
  for (const TextFile& file : texts.files) take(file.text());
  const auto learning = [&](TrainingPhase phase, std::uint64_t done, std::uint64_t total) {
    if (!progress || total == 0) return;
    progress(phase == TrainingPhase::counting ? "counting words" : "learning tokens",
             static_cast<double>(done) / static_cast<double>(total));
  };
  TrainedTokenizer trained = TRY(train_tokenizer(pieces, {.vocabulary = configuration.vocabulary}, learning));
  // A document begins where another one ended: that is what the model sees before its first word, and must see again.
  trained.description.prefix = {trained.description.bos};
  return Tokenizer::create(std::move(trained.description));
}

}  // namespace

Result<TrainingData> prepare_training_data(const TrainingConfiguration& configuration, const Tokenizer* own,
                                           const PreparationProgress& progress) {
  const bool learns = configuration.tokenizer.empty() && own == nullptr;
  Texts texts = TRY(collect(configuration, learns, progress));
  std::optional<Tokenizer> tokenizer;
  if (!configuration.tokenizer.empty()) {
    tokenizer = TRY(open_tokenizer(configuration.tokenizer));
  } else if (own != nullptr) {
    tokenizer = TRY(Tokenizer::create(TokenizerDescription(own->description())));
  } else {
    tokenizer = TRY(learn_tokenizer(configuration, texts, progress));
  }

  const auto encoding = [&](std::uint64_t) {
    if (progress) progress("encoding text", 0);
  };
  TokenStream stream;
  if (!texts.paths.empty()) stream = TRY(TokenStream::open(texts.paths, *tokenizer, encoding));
  for (const std::string& tales : texts.tales) {
    const auto done = [&](std::uint64_t bytes) {
      if (progress) progress("encoding tales", static_cast<double>(bytes) / static_cast<double>(tales.size()));
    };
    TRY(stream.append_text(tales, *tokenizer, done));
  }
  DataOptions options{.length = configuration.length,
                      .validation_fraction = configuration.validation_fraction,
                      .seed = static_cast<std::uint64_t>(configuration.seed)};
  if (configuration.windows == WindowKind::documents) options.document_end = document_separator(*tokenizer);
  DataSet set = TRY(DataSet::create(std::move(stream), options));
  return TrainingData{std::move(*tokenizer), std::move(set)};
}

}  // namespace ingot
