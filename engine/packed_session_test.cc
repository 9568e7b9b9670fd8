// Packing, checked against a session without it, on the model that the program carries (q8_0).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/golden_model.h"
#include "engine/measure.h"
#include "engine/session.h"

namespace ingot {
namespace {

std::unique_ptr<Session> session_on(const std::shared_ptr<const Model>& model, WeightPacking packing) {
  Result<std::unique_ptr<Session>> made =
      Session::create(model, {.threads = 2, .context = 64, .sequences = 2, .packing = packing});
  if (made.ok()) return std::move(made).value();
  ADD_FAILURE() << made.error().text();
  return nullptr;
}

std::int64_t packed_steps(Session& session, std::int64_t tokens) {
  const Circuit& circuit = session.plan_for({.runs = {tokens}, .outputs = 1}).value()->circuit();
  return std::ranges::count_if(circuit.steps, [](const Step& step) { return step.integer("layout") != 0; });
}

TEST(PackedSession, GivesTheScoresOfOneWithout) {
  const Result<std::shared_ptr<const Model>> model = Model::open_default();
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto packed = session_on(model.value(), WeightPacking::always);
  const auto plain = session_on(model.value(), WeightPacking::never);
  ASSERT_NE(packed, nullptr);
  ASSERT_NE(plain, nullptr);
  EXPECT_GT(packed_steps(*packed, 1), 0);
  EXPECT_EQ(packed_steps(*packed, 16), packed_steps(*packed, 1));
  EXPECT_EQ(packed_steps(*plain, 1), 0);
  EXPECT_GT(packed->working_bytes(), plain->working_bytes());

  const std::vector<std::int32_t> tokens = arbitrary_tokens(40, model.value()->facts().vocabulary);
  std::size_t begin = 0;
  for (Session* session : {packed.get(), plain.get()}) ASSERT_EQ(session->sequences().add().value(), 0);
  for (const std::size_t count : {16, 1, 1, 3, 1, 2, 12, 4}) {  // prompts and decode steps
    const TokenRun run{0, std::span(tokens).subspan(begin, count), Wanted::all};
    const Result<View<const float>> found = packed->forward(run);
    ASSERT_TRUE(found.ok()) << found.error().text();
    const View<const float> expected = plain->forward(run).value();
    double largest = 0;
    double worst = 0;
    for (std::int64_t index = 0; index < expected.count(); ++index) {
      largest = std::max(largest, std::fabs(double{expected.data()[index]}));
      worst = std::max(worst, std::fabs(double{expected.data()[index]} - found.value().data()[index]));
    }
    // Activations become codes: where a rounding flips, a whole code does.
    EXPECT_LE(worst, 0.02 * largest) << "from " << begin << " on";
    begin += count;
  }
}

TEST(PackedSession, IsRefusedWhereNothingCanBePacked) {
  const Result<std::shared_ptr<const Model>> model = Model::open(golden_folder("llama"));
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Result<std::unique_ptr<Session>> session = Session::create(model.value(), {.packing = WeightPacking::always});
  ASSERT_FALSE(session.ok());
  EXPECT_NE(session.error().text().find("q4_0, q8_0"), std::string_view::npos) << session.error().text();
}

}  // namespace
}  // namespace ingot
