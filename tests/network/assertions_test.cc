#include "tests/network/assertions.h"

#include <gtest/gtest.h>

#include "tests/network/symbols.h"

namespace ingot::network_scripts {
namespace {

Result<std::int64_t> known(std::string_view name) {
  if (name == "tcpi_snd_cwnd") return 10;
  if (name == "tcpi_rtt") return 20'000;
  if (const auto value = symbol(name)) return *value;
  return Error::of(ErrorCode::unsupported, "the name ", name);
}

std::string outcome(std::string_view code, Variables& variables) {
  const Result<void> result = run_assertions(code, variables, known);
  if (result.ok()) return "holds";
  return result.error().code() == ErrorCode::unsupported ? "unknown" : "fails";
}

std::string outcome(std::string_view code) {
  Variables variables;
  return outcome(code, variables);
}

TEST(Assertions, Compare) {
  EXPECT_EQ(outcome("assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd"), "holds");
  EXPECT_EQ(outcome("assert tcpi_snd_cwnd == 11, tcpi_snd_cwnd"), "fails");
  EXPECT_EQ(outcome("assert 5000 <= tcpi_rtt <= 20000, 'srtt=%d us' % tcpi_rtt"), "holds");
  EXPECT_EQ(outcome("assert 5000 <= tcpi_rtt < 20000, 'srtt=%d us; #' % tcpi_rtt"), "fails");
  EXPECT_EQ(outcome("assert 30000 <= tcpi_rtt <= 40000"), "fails");
  EXPECT_EQ(outcome("assert (TCPI_OPT_SACK | TCPI_OPT_WSCALE) == 6"), "holds");
  EXPECT_EQ(outcome("assert TCP_CA_Recovery != 3 or 1 + 2 - 1 > 1 and not 2 == 3"), "holds");
}

TEST(Assertions, RunSeveralStatements) {
  EXPECT_EQ(outcome("\nassert 1 == 1 # why\nassert 2 == 2,2   # 'a\n"), "holds");
  EXPECT_EQ(outcome("assert 1 == 1;\\\n assert 1 == 2;\\\n"), "fails");
  EXPECT_EQ(outcome("print(tcpi_snd_cwnd);  assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd"), "holds");
}

TEST(Assertions, KeepVariables) {
  Variables variables;
  EXPECT_EQ(outcome("cwnd = 9", variables), "holds");
  EXPECT_EQ(outcome("cwnd += 1; assert tcpi_snd_cwnd == cwnd, tcpi_snd_cwnd", variables), "holds");
  EXPECT_EQ(outcome("cwnd += 1; assert tcpi_snd_cwnd == cwnd, tcpi_snd_cwnd", variables), "fails");
}

TEST(Assertions, SayWhatTheyDoNotKnow) {
  EXPECT_EQ(outcome("assert tcpi_foo == 1"), "unknown");
  EXPECT_EQ(outcome("for x in y: pass"), "unknown");
  EXPECT_EQ(outcome("assert len('a') == 1"), "unknown");
  EXPECT_EQ(outcome("assert 1 == 1 if 2 else 3"), "unknown");
  EXPECT_EQ(outcome("assert " + std::string(100, '(')), "unknown");
  EXPECT_EQ(outcome("assert 99999999999999999999 == 1"), "unknown");
  EXPECT_EQ(outcome("cwnd = 999999999999999999; cwnd += cwnd; cwnd += cwnd; cwnd += cwnd; cwnd += cwnd"), "unknown");
}

}  // namespace
}  // namespace ingot::network_scripts
