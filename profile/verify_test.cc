// The prover must catch liars. A toy operation (y = factor x) with variants that are wrong in one way each.
#include "profile/verify.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

#include "kernels/contract/describe.h"
#include "profile/mutate.h"

namespace ingot {
namespace {

struct Scale {
  static constexpr std::string_view name = "toy.scale";
  static constexpr std::string_view equation = "y[i] = factor x[i]";
  static constexpr Backward backward = Backward::by("toy.scale_backward");
  struct Arguments {
    View<const float> x;
    float factor = 1;
    View<float> y;
    static constexpr auto fields() {
      return field_list(input(&Arguments::x, "x"), attribute(&Arguments::factor, "factor"), output(&Arguments::y, "y"));
    }
  };
  static Result<void> check(const Arguments& a) {
    TRY(require_rank(name, "C1", "x", a.x, 1));
    TRY(require_shape(name, "C2", "y", a.y, a.x.shape()));
    TRY(require_contiguous(name, "C3", "x", a.x));
    return require_contiguous(name, "C3", "y", a.y);
  }
  static Cost cost(const Arguments& a) { return {static_cast<double>(a.x.count()), 4, 4}; }
  static Tolerance tolerance(const Arguments&) { return {.epsilons = 1, .reason = "one rounding"}; }
  static std::span<const Variant<Scale>> variants();
  static void cases(CaseList<Scale>& list) {
    auto build = [](std::int64_t count) {
      return [count](CaseBuilder& builder) { return Arguments{builder.filled({count}), 0.5f, builder.blank({count})}; };
    };
    list.parity("37", build(37));
    list.parity("38", build(38));
    list.parity("empty", build(0));
    list.gradient("4", build(4));
  }
};

void scale_all(const Scale::Arguments& a, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) a.y.data()[i] = a.factor * a.x.data()[i];
}
void right(const Scale::Arguments& a, Context&) { scale_all(a, 0, a.x.count()); }
void inexact(const Scale::Arguments& a, Context&) {
  scale_all(a, 0, a.x.count());
  if (a.x.count() > 5) a.y.data()[5] *= 1.000001f;
}
void forgets_the_last(const Scale::Arguments& a, Context&) {
  scale_all(a, 0, std::max<std::int64_t>(a.x.count() - 1, 0));
}
void writes_past_the_end(const Scale::Arguments& a, Context&) {
  scale_all(a, 0, a.x.count());
  a.y.data()[a.y.count()] = 1;
}
void depends_on_threads(const Scale::Arguments& a, Context& context) {
  scale_all(a, 0, a.x.count());
  if (context.workers.count() == 3 && a.x.count() > 0) a.y.data()[0] = std::nextafter(a.y.data()[0], 1e9f);
}

// A read that no compiler leaves out.
void touch(const void* address) { (void)*static_cast<const volatile std::byte*>(address); }

void reads_past_the_end(const Scale::Arguments& a, Context&) {
  scale_all(a, 0, a.x.count());
  touch(a.x.data() + a.x.count());
}
void reads_before_the_start(const Scale::Arguments& a, Context&) {
  scale_all(a, 0, a.x.count());
  touch(a.x.data() - 1);
}
void reads_nothing_of_nothing(const Scale::Arguments& a, Context&) {
  scale_all(a, 0, a.x.count());
  if (a.x.empty()) touch(a.x.data());
}
// Only where a second thread takes the second of two chunks, which the first leaves to it.
template <int step>
void reads_outside_in_a_worker(const Scale::Arguments& a, Context& context) {
  scale_all(a, 0, a.x.count());
  if (context.workers.count() == 1) return;
  std::atomic<bool> came = false;
  context.workers.for_chunks(2, 1, [&](std::int64_t, std::int64_t, int worker) {
    if (worker != 0) {
      touch(step < 0 ? a.x.data() + step : a.x.data() + a.x.count());
      came = true;
    }
    while (!came) std::this_thread::yield();
  });
}
void reads_past_its_scratch(const Scale::Arguments& a, Context& context) {
  scale_all(a, 0, a.x.count());
  touch(context.scratch.data() + context.scratch.size());
}
void writes_past_its_scratch(const Scale::Arguments& a, Context& context) {
  scale_all(a, 0, a.x.count());
  context.scratch.data()[context.scratch.size()] = std::byte{1};
}

std::span<const Variant<Scale>> Scale::variants() {
  static const Variant<Scale> table[] = {
      {"absent_feature", {Feature::sve, Feature::amx_int8}, right},
      {"other_architecture", {}, nullptr},
      {"inexact", {}, inexact},
      {"forgets_the_last", {}, forgets_the_last},
      {"writes_past_the_end", {}, writes_past_the_end},
      {"depends_on_threads", {}, depends_on_threads},
      {"reads_past_the_end", {}, reads_past_the_end},
      {"reads_before_the_start", {}, reads_before_the_start},
      {"reads_nothing_of_nothing", {}, reads_nothing_of_nothing},
      {"reads_behind_in_a_worker", {}, reads_outside_in_a_worker<1>},
      {"reads_before_in_a_worker", {}, reads_outside_in_a_worker<-1>},
      {"reads_past_its_scratch",
       {},
       reads_past_its_scratch,
       nullptr,
       [](const Arguments&, int) { return std::size_t{128}; }},
      {"writes_past_its_scratch",
       {},
       writes_past_its_scratch,
       nullptr,
       [](const Arguments&, int) { return std::size_t{100}; }},
      {"accepts_nothing", {}, right, [](const Arguments&) { return false; }},
      {"right", {}, right},
      {"reference", {}, right},
  };
  return table;
}

// dx = factor dy, deliberately forgetting the factor.
struct ScaleBackward {
  static constexpr std::string_view name = "toy.scale_backward";
  static constexpr std::string_view equation = "dx[i] = dy[i]";
  static constexpr Backward backward = Backward::none("first derivatives only");
  struct Arguments {
    View<const float> dy;
    View<float> dx;
    static constexpr auto fields() { return field_list(input(&Arguments::dy, "dy"), output(&Arguments::dx, "dx")); }
  };
  // Lax on purpose: dx may be smaller than dy, which the mutation test must notice as harmless or not at all.
  static Result<void> check(const Arguments& a) { return require_shape(name, "C1", "dx", a.dx, a.dy.shape()); }
  static Cost cost(const Arguments&) { return {}; }
  static Tolerance tolerance(const Arguments&) { return Tolerance::exact("a copy"); }
  static std::span<const Variant<ScaleBackward>> variants() {
    static const Variant<ScaleBackward> table[] = {{"reference", {}, [](const Arguments& a, Context&) {
                                                      for (std::int64_t i = 0; i < a.dx.count(); ++i) {
                                                        a.dx.data()[i] = a.dy.data()[i];
                                                      }
                                                    }}};
    return table;
  }
  static void cases(CaseList<ScaleBackward>& list) {
    list.parity("4", [](CaseBuilder& builder) { return Arguments{builder.filled({4}), builder.blank({4})}; });
  }
};

std::atomic<bool> is_released = false;
void hangs(const Scale::Arguments& a, Context&) {
  while (!is_released) std::this_thread::yield();
  scale_all(a, 0, a.x.count());
}
void strays(const Scale::Arguments&, Context&) { touch(reinterpret_cast<const void*>(8)); }

// The same with variants that do not come back.
struct Endless {
  static constexpr std::string_view name = "toy.endless";
  static constexpr std::string_view equation = Scale::equation;
  static constexpr Backward backward = Backward::none("toy");
  using Arguments = Scale::Arguments;
  static Result<void> check(const Arguments& a) { return Scale::check(a); }
  static Cost cost(const Arguments& a) { return Scale::cost(a); }
  static Tolerance tolerance(const Arguments& a) { return Scale::tolerance(a); }
  static std::span<const Variant<Endless>> variants() {
    static const Variant<Endless> table[] = {{"hangs", {}, hangs}, {"strays", {}, strays}, {"reference", {}, right}};
    return table;
  }
  static void cases(CaseList<Endless>& list) {
    list.parity("4", [](CaseBuilder& builder) { return Arguments{builder.filled({4}), 2, builder.blank({4})}; });
  }
};

// Lacks a cost.
struct Incomplete {
  static constexpr std::string_view name = "toy.incomplete";
  static constexpr std::string_view equation = "";
  static constexpr Backward backward = Backward::none("toy");
  using Arguments = Scale::Arguments;
  static Result<void> check(const Arguments&);
  static Tolerance tolerance(const Arguments&);
  static std::span<const Variant<Incomplete>> variants();
  static void cases(CaseList<Incomplete>&);
};
static_assert(KernelContract<Scale>);
static_assert(!KernelContract<Incomplete>, "an operation without a cost is not a contract");

class Verify : public testing::Test {
 protected:
  Verify() {
    const Operation* operations[] = {&describe_operation<Scale>(), &describe_operation<ScaleBackward>()};
    rows_ = Verifier::create({}, {}).value().verify(*operations[0], operations);
  }
  const VerifyRow& row(std::string_view variant) const {
    for (const VerifyRow& row : rows_) {
      if (row.variant == variant) return row;
    }
    ADD_FAILURE() << "no row for " << variant;
    return rows_.front();
  }
  std::vector<VerifyRow> rows_;
};

TEST_F(Verify, PassesWhatIsRight) {
  EXPECT_EQ(row("right").status, VerifyStatus::passed);
  EXPECT_EQ(row("reference").status, VerifyStatus::passed);
  EXPECT_GT(row("right").cases, 5);
}
TEST_F(Verify, CatchesAWrongNumber) {
  EXPECT_EQ(row("inexact").status, VerifyStatus::failed);
  EXPECT_NE(row("inexact").detail.find("element 5 of 37"), std::string::npos) << row("inexact").detail;
}
TEST_F(Verify, CatchesAnElementThatWasNotWritten) { EXPECT_EQ(row("forgets_the_last").status, VerifyStatus::failed); }
TEST_F(Verify, CatchesAWriteOutsideTheOutput) {
  EXPECT_EQ(row("writes_past_the_end").status, VerifyStatus::failed);
  EXPECT_NE(row("writes_past_the_end").detail.find("outside"), std::string::npos);
}
TEST_F(Verify, CatchesAReadOutsideTheInput) {
  EXPECT_EQ(row("reads_past_the_end").status, VerifyStatus::failed);
  EXPECT_NE(row("reads_past_the_end").detail.find("1 byte behind x"), std::string::npos)
      << row("reads_past_the_end").detail;
  EXPECT_EQ(row("reads_before_the_start").status, VerifyStatus::failed);
  EXPECT_NE(row("reads_before_the_start").detail.find("4 bytes before x"), std::string::npos)
      << row("reads_before_the_start").detail;
  EXPECT_EQ(row("reads_nothing_of_nothing").status, VerifyStatus::failed);
}
TEST_F(Verify, CatchesAReadOutsideTheInputByAnyThread) {
  EXPECT_EQ(row("reads_behind_in_a_worker").status, VerifyStatus::failed);
  EXPECT_NE(row("reads_behind_in_a_worker").detail.find("1 byte behind x"), std::string::npos)
      << row("reads_behind_in_a_worker").detail;
  EXPECT_NE(row("reads_behind_in_a_worker").detail.find("2 threads"), std::string::npos);
  EXPECT_EQ(row("reads_before_in_a_worker").status, VerifyStatus::failed);
  EXPECT_NE(row("reads_before_in_a_worker").detail.find("4 bytes before x"), std::string::npos)
      << row("reads_before_in_a_worker").detail;
}
TEST_F(Verify, CatchesAnAccessOutsideTheScratch) {
  EXPECT_EQ(row("reads_past_its_scratch").status, VerifyStatus::failed);
  EXPECT_NE(row("reads_past_its_scratch").detail.find("1 byte behind the scratch"), std::string::npos)
      << row("reads_past_its_scratch").detail;
  EXPECT_EQ(row("writes_past_its_scratch").status, VerifyStatus::failed);
}
TEST_F(Verify, CatchesAResultThatDependsOnTheThreadCount) {
  EXPECT_EQ(row("depends_on_threads").status, VerifyStatus::failed);
  EXPECT_NE(row("depends_on_threads").detail.find("3 threads"), std::string::npos);
}
TEST_F(Verify, ShowsAVariantTheMachineLacksAsSkipped) {
  EXPECT_EQ(row("absent_feature").status, VerifyStatus::skipped);
  EXPECT_EQ(row("other_architecture").status, VerifyStatus::skipped);
  EXPECT_EQ(row("accepts_nothing").status, VerifyStatus::skipped);
}
TEST_F(Verify, CatchesAWrongGradient) {
  EXPECT_EQ(row("gradient").status, VerifyStatus::failed);
  EXPECT_NE(row("gradient").detail.find("finite differences"), std::string::npos);
}

TEST(VerifyLimit, AVariantThatDoesNotComeBackIsNamedWithHowToRunItAlone) {
  std::vector<VerifyRow> told;
  VerifyOptions options;
  options.seed = 5;
  options.variant = "hangs";
  options.limit_seconds = 0.25;
  options.on_stuck = [&](const std::vector<VerifyRow>& rows) {
    told = rows;
    is_released = true;
  };
  Verifier::create({}, options).value().verify(describe_operation<Endless>(), {});
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().variant, "hangs");
  EXPECT_EQ(told.back().status, VerifyStatus::failed);
  EXPECT_EQ(told.back().detail,
            "case '4', ordinary data, packed layout: expected an end within 0.25 s, found it still running; "
            "alone: ingot verify toy.endless --variant hangs --seed 5");
}

TEST(VerifyDeathTest, AVariantThatGoesAstrayIsNamedBeforeTheEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  VerifyOptions options;
  options.variant = "strays";
  options.on_stuck = [](const std::vector<VerifyRow>& rows) {
    std::fputs(rows.back().detail.c_str(), stderr);
    std::_Exit(1);
  };
  EXPECT_EXIT(Verifier::create({}, options).value().verify(describe_operation<Endless>(), {}),
              testing::ExitedWithCode(1), "case '4', .* found a read at address 8, far from all of them");
}

TEST(Mutate, RefusalsNameTheConstraintAndLaxChecksAreSeen) {
  auto workers = Workers::create({.threads = 1});
  const MutationReport report = mutate_arguments(describe_operation<Scale>(), {}, 1, *workers.value());
  EXPECT_GT(report.refused, 10);
  // Nothing was wrongly accepted; what was run shows the liars again.
  std::set<std::string> liars;
  for (const std::string& text : report.failures) {
    const std::size_t begin = text.find(", variant ");
    ASSERT_NE(begin, std::string::npos) << text;
    liars.insert(text.substr(begin + 10, text.find(": ", begin) - begin - 10));
  }
  EXPECT_TRUE(liars.contains("reads_past_the_end"));
  EXPECT_TRUE(liars.contains("reads_before_the_start"));
  EXPECT_FALSE(liars.contains("right"));
}

}  // namespace
}  // namespace ingot
