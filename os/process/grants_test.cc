#include "os/process/grants.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot::os {
namespace {

constexpr ProgramDevice offered[] = {{"kmsg", nullptr, 1}, {"gpu0", nullptr, 2}};

Result<Grants> grants_of(std::string& text) {
  text = "ingot manifest 1\nprogram /a\n" + text;
  return read_grants(Manifest::parse(text).value(), offered);
}

TEST(Grants, NothingIsAllowedUnlessItIsNamed) {
  std::string text;
  const Grants none = grants_of(text).value();
  EXPECT_EQ(none.writable_code, WritableCode::refused);
  EXPECT_EQ(none.devices.size(), 0u);
  text = "grant gpu0\ngrant writable-executable\n";
  const Grants some = grants_of(text).value();
  EXPECT_EQ(some.writable_code, WritableCode::granted);
  ASSERT_EQ(some.devices.size(), 1u);
  EXPECT_EQ(some.devices[0].number, 2u);
}

TEST(Grants, ADeviceThatIsNotThereIsRefusedByName) {
  std::string text = "grant gpu1\n";
  EXPECT_EQ(grants_of(text).error().text(),
            "manifest, line 3: expected a grant of one of: writable-executable, kmsg, gpu0; found 'gpu1', which this "
            "machine does not have");
  text = "grant kmsg\ngrant kmsg\n";
  EXPECT_EQ(grants_of(text).error().text(), "manifest, line 4: expected 'kmsg' to be granted once, found it again");
}

}  // namespace
}  // namespace ingot::os
