// Sessions whose passes run through an accelerator's queue: what they say has the host's own bits, and a worker that is
// gone is an error of theirs.
#include <fstream>

#include "accelerator/broker_fixture.h"
#include "engine/golden_model.h"
#include "engine/mixed_texts.h"
#include "engine/sampler.h"

namespace ingot {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr int threads_of_worker = 2;  // RunningBroker's: bits do not depend on it, times do

std::shared_ptr<const Model> open(const std::string& path) {
  Result<std::shared_ptr<const Model>> model = Model::open(path);
  if (model.ok()) return model.value();
  ADD_FAILURE() << path << ": " << model.error().text();
  return nullptr;
}

std::shared_ptr<const DeviceModel> uploaded(const std::shared_ptr<const Model>& model, const std::string& path,
                                            const SessionOptions& options = {}) {
  std::shared_ptr<Device> device = AcceleratorDevice::open(path).value();
  const DeviceModel::Use use = Session::use_of(device->information(), options);
  Result<std::shared_ptr<const DeviceModel>> there = DeviceModel::upload(model, std::move(device), {}, use);
  if (there.ok()) return there.value();
  ADD_FAILURE() << there.error().text();
  return nullptr;
}

std::unique_ptr<Session> session_of(const std::shared_ptr<const Model>& model, SessionOptions options,
                                    std::shared_ptr<const DeviceModel> device = nullptr) {
  options.threads = threads_of_worker;
  options.context = std::min<std::int64_t>(model->facts().context, 48);
  options.page_length = 4;
  options.device = std::move(device);
  Result<std::unique_ptr<Session>> session = Session::create(model, options);
  if (session.ok()) return std::move(session).value();
  ADD_FAILURE() << session.error().text();
  return nullptr;
}

Tokens some_tokens(const Model& model, std::size_t count) {
  Tokens tokens = {5, 9, 2, 40, 7, 3, 11, 8, 1, 30, 4, 17};
  tokens.resize(count, 6);
  for (std::int32_t& token : tokens) token %= static_cast<std::int32_t>(model.facts().vocabulary);
  return tokens;
}

// A prompt in one pass, two others beside one that goes on, then tokens one by one: step by step, recorded, replayed.
std::vector<std::vector<float>> outputs_of(Session& session) {
  std::vector<std::vector<float>> all;
  const auto forward = [&](std::span<const TokenRun> runs) {
    const Result<View<const float>> found = session.forward(runs);
    if (!found.ok()) {
      ADD_FAILURE() << found.error().text();
      return;
    }
    all.emplace_back(found.value().data(), found.value().data() + found.value().count());
  };
  const Tokens tokens = some_tokens(session.model(), 12);
  const auto first_ten = std::span(tokens).first(10);
  if (session.model().facts().sees_the_future) {
    const int whole = session.sequences().add().value();
    forward(std::array{TokenRun{whole, first_ten, Wanted::all}});
    return all;
  }
  const int first = session.sequences().add().value();
  const int second = session.sequences().add().value();
  forward(std::array{TokenRun{first, first_ten, Wanted::all}});
  forward(std::array{TokenRun{first, std::span(tokens).first(1), Wanted::last},
                     TokenRun{second, std::span(tokens).first(5), Wanted::last}});
  for (int pass = 0; pass < 4; ++pass) {
    forward(std::array{TokenRun{second, std::span(tokens).subspan(static_cast<std::size_t>(pass), 1), Wanted::last}});
  }
  return all;
}

void expect_same_bits(const std::vector<std::vector<float>>& found, const std::vector<std::vector<float>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t pass = 0; pass < found.size(); ++pass) {
    ASSERT_EQ(found[pass].size(), expected[pass].size()) << "pass " << pass;
    ASSERT_EQ(std::memcmp(found[pass].data(), expected[pass].data(), found[pass].size() * sizeof(float)), 0)
        << "pass " << pass;
  }
}

class AcceleratedSession : public WithBroker {
 protected:
  void expect_hosts_bits(const std::shared_ptr<const Model>& model, SessionOptions options = {}) {
    ASSERT_NE(model, nullptr);
    options.sequences = 2;
    const auto host = session_of(model, options);
    const auto accelerated = session_of(model, options, uploaded(model, broker.path(), options));
    ASSERT_TRUE(host && accelerated);
    expect_same_bits(outputs_of(*accelerated), outputs_of(*host));
  }
};

TEST_F(AcceleratedSession, HasTheHostsBitsForEveryArchitecture) {
  for (const std::string& name : golden_names()) {
    SCOPED_TRACE(name);
    expect_hosts_bits(open(golden_folder(name)));
  }
}

TEST_F(AcceleratedSession, HasTheHostsBitsOfPackedWeightsAndWhereNeighboursNeverShow) {
  const std::shared_ptr<const Model> tales = Model::open_default().value();
  for (const WeightPacking packing : {WeightPacking::always, WeightPacking::never}) {
    for (const bool deterministic : {false, true}) {
      for (const DType cache : {DType::f16, DType::q8_0}) {
        SCOPED_TRACE(static_cast<int>(packing));
        expect_hosts_bits(tales, {.cache = cache, .packing = packing, .deterministic = deterministic});
      }
    }
  }
}

// A file is not copied: what the worker reads are its pages, as they are this process's.
TEST_F(AcceleratedSession, ReadsWeightsWhereTheirFileIsMapped) {
  const std::string path = testing::TempDir() + "tales." + std::to_string(::getpid()) + ".gguf";
  std::filesystem::copy_file(std::filesystem::path(INGOT_SOURCE_DIR) / "models" / "tales.gguf", path);
  {
    const std::shared_ptr<const Model> model = open(path);
    ASSERT_NE(model, nullptr);
    const SessionOptions options = {.packing = WeightPacking::never};
    const auto there = uploaded(model, broker.path(), options);
    ASSERT_NE(there, nullptr);
    EXPECT_EQ(there->bytes(), 0u);
    expect_hosts_bits(model, options);
    expect_hosts_bits(model, {.packing = WeightPacking::always});
  }
  std::filesystem::remove(path);
}

TEST_F(AcceleratedSession, ChoosesTokensAheadAsTheHostDoes) {
  const std::shared_ptr<const Model> model = Model::open_default().value();
  const auto host = session_of(model, {});
  const auto accelerated = session_of(model, {}, uploaded(model, broker.path()));
  ASSERT_TRUE(host && accelerated);
  for (const double temperature : {0.0, 0.8}) {
    const SamplerOptions sampling = {.temperature = temperature, .top_k = 20, .top_p = 0.95, .seed = 7};
    Sampler of_host = std::move(Sampler::create(host->table(), sampling)).value();
    Sampler ahead = std::move(Sampler::create(host->table(), sampling)).value();
    const Tokens prompt = some_tokens(*model, 8);
    const int sequence = host->sequences().add().value();
    Tokens expected, next = prompt;
    for (int pass = 0; pass < 12; ++pass) {
      const View<const float> logits = host->forward({sequence, next, Wanted::last}).value();
      Context context = host->context_for_kernels();
      const std::span<const float> row(logits.data(), static_cast<std::size_t>(logits.count()));
      expected.push_back(of_host.choose(row, context).value());
      next = {expected.back()};
    }
    host->sequences().remove(sequence);

    Tokens said;
    ChosenRun run{.sequence = accelerated->sequences().add().value(), .tokens = prompt, .choice = ahead.next_choice()};
    for (int pass = 0; pass < 12; ++pass) {
      ASSERT_TRUE(accelerated->begin_choosing(std::span(&run, 1)).ok());
      if (pass > 0) said.push_back(accelerated->chosen().value()[0]);
      run = {.sequence = run.sequence, .tokens = {}, .choice = ahead.next_choice(), .goes_on = true};
    }
    said.push_back(accelerated->chosen().value()[0]);
    accelerated->sequences().remove(run.sequence);
    EXPECT_EQ(said, expected) << "temperature " << temperature;
  }
}

TEST_F(AcceleratedSession, NeighboursNeverShowWhereTheyMustNot) {
  const std::shared_ptr<const Model> model = Model::open_default().value();
  mixed_texts::expect_mixes(model, 2, DType::f16, uploaded(model, broker.path(), {.deterministic = true}));
}

TEST_F(AcceleratedSession, RefusesVariantsThatItsWorkerChooses) {
  const std::shared_ptr<const Model> model = Model::open_default().value();
  SessionOptions options;
  options.forced = {{"norm.rms_norm", "reference"}};
  options.device = uploaded(model, broker.path());
  const auto refused = Session::create(model, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("whose worker chooses its own"), std::string_view::npos);
}

TEST(AcceleratedSessionLoss, OfTheWorkerIsAnErrorAndAnotherSessionServes) {
  RunningBroker broker;
  const std::shared_ptr<const Model> model = Model::open_default().value();
  const auto host = session_of(model, {.sequences = 2});
  const auto expected = outputs_of(*host);
  for (int round = 0; round < 3; ++round) {
    const auto session = session_of(model, {.sequences = 2}, uploaded(model, broker.path(), {.sequences = 2}));
    ASSERT_TRUE(session);
    expect_same_bits(outputs_of(*session), expected);
    const std::string listed =
        "/proc/" + std::to_string(broker.process()) + "/task/" + std::to_string(broker.process()) + "/children";
    std::ifstream children(listed);
    for (pid_t worker = 0; children >> worker;) ::kill(worker, SIGKILL);
    const Tokens tokens = some_tokens(*model, 1);
    const int sequence = 0;
    const auto lost = session->forward({sequence, tokens, Wanted::last});
    ASSERT_FALSE(lost.ok());
    EXPECT_NE(lost.error().text().find("the accelerator's worker"), std::string_view::npos) << lost.error().text();
  }
}

}  // namespace
}  // namespace ingot
