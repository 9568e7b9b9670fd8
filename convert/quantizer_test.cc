#include "convert/quantizer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>

#include "engine/random_model.h"
#include "engine/session.h"
#include "model/files/gguf_writer.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

const std::filesystem::path goldens = std::filesystem::path(INGOT_SOURCE_DIR) / "tests" / "goldens";

const TypeMix* mix_of(std::string_view name) {
  const Result<const TypeMix*> mix = find_type_mix(name);
  EXPECT_TRUE(mix.ok()) << name;
  return mix.value();
}

Result<void> quantize(const std::string& input, const std::string& output, std::string_view type) {
  const Quantizer quantizer = TRY(Quantizer::open(input, {.mix = mix_of(type)}));
  return quantizer.write(output, {.threads = 2});
}

// Of a short sequence; empty where the model cannot be used, which fails the test.
std::vector<float> logits_of(const std::string& path) {
  Result<std::shared_ptr<const Model>> model = Model::open(path);
  EXPECT_TRUE(model.ok()) << path << ": " << model.error().text();
  if (!model.ok()) return {};
  Result<std::unique_ptr<Session>> session =
      Session::create(model.value(), {.threads = 2, .cache = DType::f32, .context = 16});
  EXPECT_TRUE(session.ok()) << path << ": " << session.error().text();
  if (!session.ok()) return {};
  const std::vector<std::int32_t> tokens = {1, 5, 9, 3, 7, 2, 8, 4};
  const int sequence = session.value()->sequences().add().value();
  const Result<View<const float>> logits = session.value()->forward({sequence, tokens, Wanted::all});
  EXPECT_TRUE(logits.ok()) << path << ": " << logits.error().text();
  if (!logits.ok()) return {};
  return {logits.value().data(), logits.value().data() + logits.value().count()};
}

double relative_error(const std::vector<float>& expected, const std::vector<float>& found) {
  if (expected.empty() || expected.size() != found.size()) return HUGE_VAL;
  double error = 0;
  double square = 0;
  for (std::size_t index = 0; index < expected.size(); ++index) {
    error += std::pow(double{expected[index]} - found[index], 2);
    square += std::pow(double{expected[index]}, 2);
  }
  return std::sqrt(error / square);
}

// Folder to GGUF: names, numbers and the order of heads' rows must all be right for the logits to stay.
TEST(QuantizerTest, FoldersOfAllArchitecturesKeepTheirLogitsAsF32) {
  int passed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(goldens)) {
    if (!entry.is_directory() || !Model::open(entry.path()).ok()) continue;
    TemporaryFolder folder;
    const Result<void> written = quantize(entry.path(), folder.file("f32.gguf"), "F32");
    ASSERT_TRUE(written.ok()) << entry.path() << ": " << written.error().text();
    EXPECT_LE(relative_error(logits_of(entry.path()), logits_of(folder.file("f32.gguf"))), 1e-5) << entry.path();
    ++passed;
  }
  std::printf("%d folders keep their logits\n", passed);
  EXPECT_GT(passed, 0);
}

TEST(QuantizerTest, FolderAsQ8KeepsItsLogitsNearly) {
  TemporaryFolder folder;
  const Result<void> written = quantize(goldens / "llama", folder.file("q8_0.gguf"), "q8_0");
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_LE(relative_error(logits_of(goldens / "llama"), logits_of(folder.file("q8_0.gguf"))), 0.02);
}

TEST(QuantizerTest, WritesNoKeysOfItsOwnAndTheKindsThatReadersDemand) {
  const Result<Quantizer> quantizer = Quantizer::open(goldens / "llama", {.mix = mix_of("Q4_K_M")});
  ASSERT_TRUE(quantizer.ok()) << quantizer.error().text();
  const Metadata& metadata = quantizer.value().metadata();
  for (const Metadata::Entry& entry : metadata.entries()) {
    EXPECT_FALSE(entry.key.starts_with("ingot.")) << entry.key;
    EXPECT_NE(entry.value.kind, ValueKind::i64) << entry.key;
    EXPECT_NE(entry.value.kind, ValueKind::f64) << entry.key;
  }
  EXPECT_EQ(metadata.find("llama.block_count")->kind, ValueKind::u32);
  EXPECT_EQ(metadata.find("llama.rope.freq_base")->kind, ValueKind::f32);
  EXPECT_EQ(metadata.integer("general.file_type").value(), 15);
  EXPECT_EQ(metadata.integer("general.quantization_version").value(), 2);
  EXPECT_EQ(metadata.integer("llama.vocab_size").value(), 112);
  EXPECT_FALSE(metadata.has("llama.rope.scaling.type"));  // it is the tensor rope_freqs.weight
}

TEST(QuantizerTest, EveryTypeWritesWhatItPlannedWithTheErrorOfItsFormat) {
  TemporaryFolder folder;
  RandomModel model(folder.file("in.gguf"));
  const std::vector<float> expected = logits_of(folder.file("in.gguf"));
  // Of normally distributed numbers.
  const std::map<DType, double> most = {
      {DType::f32, 0},       {DType::f16, 3e-4},    {DType::bf16, 3e-3},  {DType::q8_0, 0.007}, {DType::q6_k, 0.025},
      {DType::q5_k, 0.04},   {DType::q5_1, 0.05},   {DType::q5_0, 0.05},  {DType::q4_k, 0.08},  {DType::q4_1, 0.1},
      {DType::q4_0, 0.1},    {DType::iq4_nl, 0.09}, {DType::mxfp4, 0.15}, {DType::q3_k, 0.18},  {DType::q2_k, 0.35},
      {DType::iq4_xs, 0.09}, {DType::tq1_0, 0.9},   {DType::tq2_0, 0.9}};
  for (const TypeMix& mix : all_type_mixes()) {
    const Result<Quantizer> quantizer = Quantizer::open(folder.file("in.gguf"), {.mix = &mix});
    ASSERT_TRUE(quantizer.ok()) << quantizer.error().text();
    const std::string output = folder.file(std::string(mix.name) + ".gguf");
    std::size_t count = 0;
    const auto check = [&](const PlannedTensor& tensor, double error) {
      EXPECT_LE(error, most.at(tensor.to())) << mix.name << " " << tensor.name;
      EXPECT_EQ(tensor.to() == DType::f32, tensor.shape.rank() == 1 || mix.mix == Mix::f32) << tensor.name;
      ++count;
    };
    const Result<void> written = quantizer.value().write(output, {2, check});
    ASSERT_TRUE(written.ok()) << mix.name << ": " << written.error().text();
    EXPECT_EQ(count, quantizer.value().tensors().size());

    const Result<ModelFile> file = ModelFile::open(output);
    ASSERT_TRUE(file.ok()) << file.error().text();
    for (const PlannedTensor& tensor : quantizer.value().tensors()) {
      const StoredTensor* found = file.value().find(tensor.name);
      ASSERT_NE(found, nullptr) << tensor.name;
      EXPECT_EQ(found->view.dtype(), tensor.to()) << tensor.name;
      EXPECT_EQ(found->view.shape(), tensor.shape) << tensor.name;
    }
    // Random layers amplify the weights' error some three times.
    const std::map<Mix, double> most_of_logits = {
        {Mix::f32, 1e-6}, {Mix::bf16, 0.015}, {Mix::q8_0, 0.03}, {Mix::q4_k_m, 0.3}};
    const auto bound = most_of_logits.find(mix.mix);
    if (bound == most_of_logits.end()) continue;
    EXPECT_LE(relative_error(expected, logits_of(output)), bound->second) << mix.name;
  }
}

TEST(QuantizerTest, ThreadsDoNotChangeTheFile) {
  TemporaryFolder folder;
  RandomModel model(folder.file("in.gguf"));
  const Result<Quantizer> quantizer = Quantizer::open(folder.file("in.gguf"), {.mix = mix_of("Q4_K_M")});
  ASSERT_TRUE(quantizer.ok()) << quantizer.error().text();
  ASSERT_TRUE(quantizer.value().write(folder.file("1.gguf"), {.threads = 1}).ok());
  ASSERT_TRUE(quantizer.value().write(folder.file("3.gguf"), {.threads = 3}).ok());
  const Result<MappedFile> one = MappedFile::open(folder.file("1.gguf"));
  const Result<MappedFile> three = MappedFile::open(folder.file("3.gguf"));
  EXPECT_TRUE(one.value().text() == three.value().text());
}

TEST(QuantizerTest, QuantizedInputIsDecodedWithANoteAndCopiedWhereItStays) {
  TemporaryFolder folder;
  RandomModel model(folder.file("in.gguf"));
  ASSERT_TRUE(quantize(folder.file("in.gguf"), folder.file("q8.gguf"), "Q8_0").ok());
  const Result<Quantizer> again = Quantizer::open(folder.file("q8.gguf"), {.mix = mix_of("F32")});
  ASSERT_TRUE(again.ok()) << again.error().text();
  ASSERT_EQ(again.value().notes().size(), 1u);
  EXPECT_NE(again.value().notes()[0].find("quantized before"), std::string::npos);
  ASSERT_TRUE(quantize(folder.file("q8.gguf"), folder.file("same.gguf"), "Q8_0").ok());
  const Result<MappedFile> first = MappedFile::open(folder.file("q8.gguf"));
  const Result<MappedFile> second = MappedFile::open(folder.file("same.gguf"));
  EXPECT_TRUE(first.value().text() == second.value().text());
}

TEST(QuantizerTest, RefusesWhatCannotBeDoneAndLeavesNothingBehind) {
  TemporaryFolder folder;
  RandomModel model(folder.file("in.gguf"));
  RandomModel large(folder.file("large.gguf"), 1e6f);
  folder.write("text.gguf", "this is no model");
  std::filesystem::create_symlink(folder.file("in.gguf"), folder.file("link.gguf"));
  const std::size_t files = folder.file_count();
  const struct {
    std::string input, output, type, error;
  } cases[] = {
      {folder.file("absent.gguf"), folder.file("out.gguf"), "Q8_0", "absent.gguf"},
      {folder.file("text.gguf"), folder.file("out.gguf"), "Q8_0", "expected"},
      {folder.path(), folder.file("out.gguf"), "Q8_0", "expected"},
      {folder.file("in.gguf"), folder.file("in.gguf"), "Q8_0", "expected another file"},
      {folder.file("in.gguf"), folder.file("link.gguf"), "Q8_0", "expected another file"},
      {folder.file("in.gguf"), folder.path(), "Q8_0", "folder"},
      {folder.file("in.gguf"), folder.file("missing/out.gguf"), "Q8_0", "No such file"},
      {folder.file("large.gguf"), folder.file("out.gguf"), "F16", "expected numbers that f16 can hold"},
  };
  for (const auto& row : cases) {
    const Result<void> result = quantize(row.input, row.output, row.type);
    ASSERT_FALSE(result.ok()) << row.input << " " << row.output;
    EXPECT_NE(result.error().text().find(row.error), std::string_view::npos) << result.error().text();
    EXPECT_EQ(folder.file_count(), files);
  }
}

TEST(QuantizerTest, AFullDiskLeavesNothingBehind) {
  TemporaryFolder folder;
  RandomModel model(folder.file("in.gguf"));
  rlimit usual;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // so that a write past the limit fails as on a full disk
  const rlimit small = {100000, usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<void> result = quantize(folder.file("in.gguf"), folder.file("out.gguf"), "Q8_0");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &usual), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().text().find("no file was left behind"), std::string_view::npos) << result.error().text();
  EXPECT_EQ(folder.file_count(), 1u);
}

// The same numbers, quantized by another program.
TEST(QuantizerTest, ErrorsAreNoLargerThanThoseOfOthers) {
  const auto folder = outside_data("gguf-quant");
  if (!folder) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no folder gguf-quant";
  const auto floats = [&](const std::string& name) {
    const MappedFile file = std::move(MappedFile::open(*folder + "/" + name)).value();
    std::vector<float> values(file.bytes().size() / sizeof(float));
    std::memcpy(values.data(), file.bytes().data(), values.size() * sizeof(float));
    return values;
  };
  const std::vector<float> input = floats("input.f32");
  const Shape shape = {static_cast<std::int64_t>(input.size()) / 1024, 1024};
  TensorConverter converter = std::move(TensorConverter::create(2)).value();
  int passed = 0;
  for (const DTypeInformation& row : dtype_table) {
    std::string name(row.name);
    for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
    if (row.dtype == DType::f32 || !std::filesystem::exists(*folder + "/" + name + ".f32")) continue;
    const Result<double> error =
        converter.convert({.source = View<const float>(input.data(), shape), .target = row.dtype},
                          [](std::span<const std::byte>) { return Result<void>(); });
    ASSERT_TRUE(error.ok()) << error.error().text();
    EXPECT_LE(error.value(), 1.02 * relative_error(input, floats(name + ".f32"))) << name;
    ++passed;
  }
  std::printf("%d formats compared\n", passed);
}

TEST(QuantizerTest, WithoutATypeNumbersStayAsTheyAreStored) {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole.gguf"), again = folder.file("again.gguf");
  ASSERT_TRUE(quantize(goldens / "llama", whole, "BF16").ok());
  const Result<Quantizer> of_file = Quantizer::open(whole, {});
  ASSERT_TRUE(of_file.ok()) << of_file.error().text();
  ASSERT_TRUE(of_file.value().write(again, {.threads = 1}).ok());
  EXPECT_EQ(MappedFile::open(whole).value().text(), MappedFile::open(again).value().text());
  const Result<Quantizer> of_folder = Quantizer::open(goldens / "llama", {});
  ASSERT_TRUE(of_folder.ok()) << of_folder.error().text();
  EXPECT_EQ(of_folder.value().metadata().integer("general.file_type").value(), mix_of("F32")->file_type);
  EXPECT_EQ(of_folder.value().metadata().text("tokenizer.ggml.model").value(), "no_vocab") << "it has none";
  const Result<Quantizer> of_weights = Quantizer::open(goldens / "llama" / "model.safetensors", {});
  ASSERT_TRUE(of_weights.ok()) << of_weights.error().text();
  EXPECT_EQ(of_weights.value().tensors().size(), of_folder.value().tensors().size());
}

TEST(QuantizerTest, LayersWithAWindowAreCountedWhereOthersReadANumber) {
  for (const auto& [golden, period] : {std::pair("gemma2", 2), std::pair("gemma3_text", 3), std::pair("olmo3", 4)}) {
    const Result<Quantizer> quantizer = Quantizer::open(goldens / golden, {});
    ASSERT_TRUE(quantizer.ok()) << quantizer.error().text();
    const Metadata& metadata = quantizer.value().metadata();
    const std::string key =
        std::string(metadata.text("general.architecture").value()) + ".attention.sliding_window_pattern";
    ASSERT_TRUE(metadata.has(key)) << golden;
    ASSERT_FALSE(metadata.find(key)->is_list) << golden;
    EXPECT_EQ(metadata.integer(key).value(), period) << golden;
  }
}

// Readers multiply the key by what the scaling gives by itself; config.json says the product.
TEST(QuantizerTest, TheSizeOfScaledRotationsCountsFromTheirOwn) {
  const TemporaryFolder folder;
  const std::string model = folder.file("model"), written = folder.file("f32.gguf");
  std::filesystem::copy(goldens / "olmo3", model, std::filesystem::copy_options::recursive);
  std::string config(MappedFile::open(model + "/config.json").value().text());
  const std::string place = R"("full_attention": {)";
  ASSERT_NE(config.find(place), std::string::npos);
  folder.write("model/config.json",
               config.replace(config.find(place), place.size(), place + R"("attention_factor": 1.5,)"));
  ASSERT_TRUE(quantize(model, written, "F32").ok());
  const ModelFile file = ModelFile::open(written).value();
  EXPECT_FLOAT_EQ(static_cast<float>(file.metadata().number("olmo2.rope.scaling.attn_factor").value()),
                  static_cast<float>(1.5 / (1 + 0.1 * std::log(4))));
  EXPECT_LE(relative_error(logits_of(model), logits_of(written)), 1e-5);
  EXPECT_GT(relative_error(logits_of(goldens / "olmo3"), logits_of(written)), 1e-4) << "1.5 changes nothing";
}

TEST(QuantizerTest, PiecesOfAModelBecomeOneFile) {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole.gguf"), merged = folder.file("merged.gguf");
  ASSERT_TRUE(quantize(goldens / "llama", whole, "F32").ok());
  const ModelFile model = ModelFile::open(whole).value();
  const auto half = model.tensors().size() / 2;
  for (const std::uint16_t number : {std::uint16_t{0}, std::uint16_t{1}}) {
    Metadata metadata = number == 0 ? model.metadata() : Metadata();
    metadata.set_scalar("split.no", number);
    metadata.set_scalar("split.count", std::uint16_t{2});
    metadata.set_scalar("split.tensors.count", static_cast<std::int32_t>(model.tensors().size()));
    std::vector<TensorToWrite> tensors;
    for (const StoredTensor& tensor : number == 0 ? model.tensors().first(half) : model.tensors().subspan(half)) {
      tensors.push_back(tensor_to_write(tensor));
    }
    const std::string name = "x-0000" + std::to_string(number + 1) + "-of-00002.gguf";
    ASSERT_TRUE(write_gguf(folder.file(name), metadata, tensors).ok());
  }
  const std::string second = folder.file("x-00002-of-00002.gguf");
  EXPECT_EQ(logits_of(second), logits_of(whole));
  const Result<Quantizer> quantizer = Quantizer::open(second, {});
  ASSERT_TRUE(quantizer.ok()) << quantizer.error().text();
  const Result<void> over_itself = quantizer.value().write(folder.file("x-00001-of-00002.gguf"), {.threads = 1});
  ASSERT_FALSE(over_itself.ok());
  EXPECT_NE(over_itself.error().text().find("another file than what is read"), std::string_view::npos);
  ASSERT_TRUE(quantizer.value().write(merged, {.threads = 1}).ok());
  EXPECT_EQ(MappedFile::open(merged).value().text(), MappedFile::open(whole).value().text());
}

}  // namespace
}  // namespace ingot
