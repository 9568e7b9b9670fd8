// Every architecture against logits recorded from another implementation (tests/goldens), under every spelling of its
// model: as one pass over each sequence, token by token, in chunks, and as a batch of unequal lengths.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "engine/golden_model.h"
#include "model/files/gguf_writer.h"
#include "model/files/safetensors.h"

namespace ingot {
namespace {

const std::filesystem::path goldens = std::filesystem::path(INGOT_SOURCE_DIR) / "tests" / "goldens";

// How the model is told: the folder as it stands, a copy whose config.json is the older spelling, a GGUF file made of
// the translated metadata and weights, or a GGUF file as it stands in the folder of those.
enum class Spelling : std::uint8_t { newer, classic, gguf, stored_gguf };

struct GoldenFolder {
  std::string name;
  Spelling spelling = Spelling::newer;
};

void PrintTo(const GoldenFolder& folder, std::ostream* out) { *out << folder.name; }

struct Golden {
  std::shared_ptr<const Model> model;
  std::int64_t context = 64;  // of the sessions
  std::vector<std::vector<std::int32_t>> sequences;
  std::vector<std::vector<float>> expected;  // of every token of each sequence, one row behind the other
  // A sequence for sessions whose context calls for other rotations; empty where the model has none.
  std::vector<std::int32_t> long_sequence;
  std::vector<float> long_expected;
};

std::vector<std::int32_t> tokens_of(const StoredTensor& tensor) {
  std::vector<std::int32_t> tokens;
  const auto ids = tensor.view.as<const std::int64_t>();
  for (std::int64_t i = 0; i < ids.size(0); ++i) tokens.push_back(static_cast<std::int32_t>(ids(i)));
  return tokens;
}

std::vector<float> floats_of(const StoredTensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.view.count()));
  decode_all(tensor.view, values.data());
  return values;
}

Result<void> write_as_gguf(const std::string& folder, const std::string& target) {
  const ModelFile file = TRY(ModelFile::open(folder));
  const ModelSource source = TRY(read_source(file));
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, view] : source.weights.all()) tensors.push_back(tensor_to_write({name, view}));
  return write_gguf(target, source.metadata, tensors);
}

// The largest difference, relative to the largest expected magnitude.
double worst_error(std::span<const float> expected, std::span<const float> found) {
  EXPECT_EQ(expected.size(), found.size());
  double largest = 0;
  double worst = 0;
  for (std::size_t i = 0; i < std::min(expected.size(), found.size()); ++i) {
    largest = std::max(largest, std::fabs(double{expected[i]}));
    const double error = std::fabs(double{expected[i]} - found[i]);
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
  }
  return worst / largest;
}

constexpr double tolerance = 1e-4;

class GoldenTest : public testing::TestWithParam<GoldenFolder> {
 protected:
  void SetUp() override {
    const bool is_stored = GetParam().spelling == Spelling::stored_gguf;
    const std::filesystem::path folder = goldens / (is_stored ? "gguf" : GetParam().name);
    Result<std::shared_ptr<const Model>> model = Model::open(spelled(folder));
    ASSERT_TRUE(model.ok()) << model.error().text();
    golden_.model = model.value();
    Result<SafetensorsFile> file =
        SafetensorsFile::open(folder / ((is_stored ? GetParam().name : "golden") + ".safetensors"));
    ASSERT_TRUE(file.ok()) << file.error().text();
    Result<StoredTensors> tensors = StoredTensors::of(file.value().records());
    ASSERT_TRUE(tensors.ok()) << tensors.error().text();
    for (int index = 0;; ++index) {
      const StoredTensor* tokens = tensors.value().find("tokens." + std::to_string(index));
      if (tokens == nullptr) break;
      const std::string name = golden_.model->facts().makes_embeddings ? "last_hidden." : "logits.";
      const StoredTensor* logits = tensors.value().find(name + std::to_string(index));
      ASSERT_NE(logits, nullptr);
      golden_.sequences.push_back(tokens_of(*tokens));
      golden_.expected.push_back(floats_of(*logits));
    }
    ASSERT_FALSE(golden_.sequences.empty());
    golden_.context = std::min<std::int64_t>(golden_.context, golden_.model->facts().context);
    if (const StoredTensor* tokens = tensors.value().find("long.tokens")) {
      golden_.long_sequence = tokens_of(*tokens);
      golden_.long_expected = floats_of(*tensors.value().find("long.logits"));
      golden_.context = 16;  // up to which the other sequences' rotations hold
    }
  }

  void TearDown() override {
    if (!copy_.empty()) std::filesystem::remove_all(copy_);
  }

  // Where the model lies under the spelling of this test.
  std::filesystem::path spelled(const std::filesystem::path& folder) {
    if (GetParam().spelling == Spelling::newer) return folder;
    if (GetParam().spelling == Spelling::stored_gguf) return folder / (GetParam().name + ".gguf");
    copy_ = std::filesystem::path(testing::TempDir()) /
            ("ingot_golden_" + GetParam().name + "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(copy_);
    if (GetParam().spelling == Spelling::gguf) {
      const std::filesystem::path file = copy_ / "model.gguf";
      const Result<void> written = write_as_gguf(folder, file);
      EXPECT_TRUE(written.ok()) << written.error().text();
      return file;
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (name == "config.json") continue;
      std::filesystem::copy_file(entry.path(), copy_ / (name == "config.classic.json" ? "config.json" : name),
                                 std::filesystem::copy_options::overwrite_existing);
    }
    return copy_;
  }

  std::unique_ptr<Session> session(SessionOptions options = {}) {
    options.cache = DType::f32;
    options.sequences = 3;
    if (options.context == 0) options.context = golden_.context;
    options.page_length = 2;  // so that a sequence needs several pages, and in small chunks a window's ring wraps
    options.threads = 2;
    Result<std::unique_ptr<Session>> created = Session::create(golden_.model, options);
    if (created.ok()) return std::move(created).value();
    ADD_FAILURE() << created.error().text();
    return nullptr;
  }

  std::vector<float> logits_of(Session& on, std::span<const TokenRun> runs) {
    const Result<View<const float>> logits = on.forward(runs);
    if (!logits.ok()) {
      ADD_FAILURE() << logits.error().text();
      return {};
    }
    return {logits.value().data(), logits.value().data() + logits.value().count()};
  }

  Golden golden_;
  std::filesystem::path copy_;
};

// Models whose tokens do not see the future, so that a sequence can be cut.
class CausalGoldenTest : public GoldenTest {};

TEST_P(GoldenTest, OnePassASequence) {
  const auto on = session();
  ASSERT_NE(on, nullptr);
  for (std::size_t index = 0; index < golden_.sequences.size(); ++index) {
    const int sequence = on->sequences().add().value();
    const TokenRun run{sequence, golden_.sequences[index], Wanted::all};
    const double error = worst_error(golden_.expected[index], logits_of(*on, std::span(&run, 1)));
    EXPECT_LE(error, tolerance) << "sequence " << index;
    RecordProperty("worst_error", std::to_string(error));
  }
}

TEST_P(CausalGoldenTest, TokenByToken) {
  const auto on = session({.chunk = 1});
  ASSERT_NE(on, nullptr);
  const int sequence = on->sequences().add().value();
  std::vector<float> found;
  for (const std::int32_t token : golden_.sequences[0]) {
    const TokenRun run{sequence, std::span(&token, 1), Wanted::last};
    const std::vector<float> row = logits_of(*on, std::span(&run, 1));
    found.insert(found.end(), row.begin(), row.end());
  }
  EXPECT_LE(worst_error(golden_.expected[0], found), tolerance);
}

TEST_P(CausalGoldenTest, ChunksOfAPrompt) {
  const auto on = session({.chunk = 5});
  ASSERT_NE(on, nullptr);
  const TokenRun run{on->sequences().add().value(), golden_.sequences[0], Wanted::all};
  EXPECT_LE(worst_error(golden_.expected[0], logits_of(*on, std::span(&run, 1))), tolerance);
}

TEST_P(GoldenTest, BatchOfUnequalLengths) {
  const auto on = session();
  ASSERT_NE(on, nullptr);
  std::vector<TokenRun> runs;
  std::vector<float> expected;
  for (std::size_t index = 0; index < golden_.sequences.size(); ++index) {
    runs.push_back({on->sequences().add().value(), golden_.sequences[index], Wanted::all});
    expected.insert(expected.end(), golden_.expected[index].begin(), golden_.expected[index].end());
  }
  EXPECT_LE(worst_error(expected, logits_of(*on, runs)), tolerance);
}

TEST_P(CausalGoldenTest, ForkSharesThePastAndWritesItsOwnFuture) {
  const auto on = session({.chunk = 2});
  ASSERT_NE(on, nullptr);
  const std::span<const std::int32_t> tokens = golden_.sequences[0];
  const std::size_t half = tokens.size() / 2;
  const int first = on->sequences().add().value();
  const TokenRun start{first, tokens.subspan(0, half), Wanted::none};
  logits_of(*on, std::span(&start, 1));
  const int second = on->sequences().fork(first).value();
  // The original goes another way; the fork must not notice.
  const std::int32_t other[] = {1, 2, 3};
  const TokenRun astray{first, other, Wanted::none};
  logits_of(*on, std::span(&astray, 1));
  const TokenRun rest{second, tokens.subspan(half), Wanted::last};
  const std::vector<float> found = logits_of(*on, std::span(&rest, 1));
  const auto width = found.size();
  EXPECT_LE(worst_error(std::span(golden_.expected[0]).last(width), found), tolerance);
}

TEST_P(GoldenTest, RewritesChangeNothingButTime) {
  const auto plain = session({.rewrites = false});
  const auto rewritten = session();
  ASSERT_NE(plain, nullptr);
  ASSERT_NE(rewritten, nullptr);
  const TokenRun on_plain{plain->sequences().add().value(), golden_.sequences[0], Wanted::all};
  const TokenRun on_rewritten{rewritten->sequences().add().value(), golden_.sequences[0], Wanted::all};
  const std::vector<float> expected = logits_of(*plain, std::span(&on_plain, 1));
  EXPECT_LE(worst_error(expected, logits_of(*rewritten, std::span(&on_rewritten, 1))), 1e-5);
}

// Models that turn by other factors when the session's context is long, from the first token on.
class LongGoldenTest : public GoldenTest {};

TEST_P(LongGoldenTest, OnePassASequence) {
  const auto on = session({.context = 64});
  ASSERT_NE(on, nullptr);
  const TokenRun run{on->sequences().add().value(), golden_.long_sequence, Wanted::all};
  EXPECT_LE(worst_error(golden_.long_expected, logits_of(*on, std::span(&run, 1))), tolerance);
}

TEST_P(LongGoldenTest, ChunksOfAPrompt) {
  const auto on = session({.context = 64, .chunk = 5});
  ASSERT_NE(on, nullptr);
  const TokenRun run{on->sequences().add().value(), golden_.long_sequence, Wanted::all};
  EXPECT_LE(worst_error(golden_.long_expected, logits_of(*on, std::span(&run, 1))), tolerance);
}

std::vector<GoldenFolder> folders() {
  std::vector<GoldenFolder> found;
  for (const std::string& name : golden_names()) {
    found.push_back({name, Spelling::newer});
    found.push_back({name, Spelling::gguf});
    if (std::filesystem::exists(goldens / name / "config.classic.json")) found.push_back({name, Spelling::classic});
  }
  for (const auto& entry : std::filesystem::directory_iterator(goldens / "gguf")) {
    if (entry.path().extension() == ".gguf") found.push_back({entry.path().stem(), Spelling::stored_gguf});
  }
  std::sort(found.begin(), found.end(), [](const GoldenFolder& left, const GoldenFolder& right) {
    return std::pair(left.name, left.spelling) < std::pair(right.name, right.spelling);
  });
  return found;
}

std::vector<GoldenFolder> causal_folders() {
  std::vector<GoldenFolder> found = folders();
  std::erase_if(found, [](const GoldenFolder& folder) { return folder.name == "bert"; });
  return found;
}

const auto name_of_folder = [](const testing::TestParamInfo<GoldenFolder>& instance) {
  constexpr std::string_view suffixes[] = {"", "_classic", "_gguf", "_stored_gguf"};
  return instance.param.name + std::string(suffixes[static_cast<int>(instance.param.spelling)]);
};

INSTANTIATE_TEST_SUITE_P(Architectures, GoldenTest, testing::ValuesIn(folders()), name_of_folder);
INSTANTIATE_TEST_SUITE_P(Architectures, CausalGoldenTest, testing::ValuesIn(causal_folders()), name_of_folder);
INSTANTIATE_TEST_SUITE_P(Architectures, LongGoldenTest,
                         testing::Values(GoldenFolder{"phi3", Spelling::newer}, GoldenFolder{"phi3", Spelling::classic},
                                         GoldenFolder{"phi3", Spelling::gguf}),
                         name_of_folder);

}  // namespace
}  // namespace ingot
