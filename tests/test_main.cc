// The main function of every GoogleTest program. A skipped case is no passed one: where any was skipped and none
// failed, the program exits as skipped, so that CTest shows it.
#include <gtest/gtest.h>

#include <cstdio>

namespace {
constexpr int skipped_status = 77;  // as automake and CTest have it
}

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::printf("%d passed, %d failed, %d skipped\n", all.successful_test_count(), all.failed_test_count(),
              all.skipped_test_count());
  return status == 0 && all.skipped_test_count() != 0 ? skipped_status : status;
}
