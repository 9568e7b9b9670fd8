#include "os/process/grants.h"

#include <gtest/gtest.h>

#include <string>

namespace ingot::os {
namespace {

constexpr ProgramDevice offered[] = {{"kmsg", nullptr, 1}, {"gpu0", nullptr, 2}};
constexpr SocketFamily families[] = {{2, "network", nullptr}, {10, "network", nullptr}};

Result<Grants> grants_of(std::string& text) {
  text = "ingot manifest 1\nprogram /a\n" + text;
  return read_grants(Manifest::parse(text).value(), offered, families);
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
  EXPECT_EQ(some.families.size(), 0u);
}

TEST(Grants, ADeviceThatIsNotThereIsRefusedByName) {
  std::string text = "grant gpu1\n";
  EXPECT_EQ(grants_of(text).error().text(),
            "manifest, line 3: expected a grant of one of: writable-executable, kmsg, gpu0, network; found 'gpu1', "
            "which this machine does not have");
  text = "grant kmsg\ngrant kmsg\n";
  EXPECT_EQ(grants_of(text).error().text(), "manifest, line 4: expected 'kmsg' to be granted once, found it again");
}

TEST(Grants, ARightMayStandForSeveralFamiliesOfSockets) {
  std::string text = "grant network\n";
  const Grants granted = grants_of(text).value();
  ASSERT_EQ(granted.families.size(), 2u);
  EXPECT_EQ(granted.families[1].number, 10u);
  EXPECT_EQ(granted.devices.size(), 0u);
  text = "grant network\ngrant network\n";
  EXPECT_EQ(grants_of(text).error().text(), "manifest, line 4: expected 'network' to be granted once, found it again");
}

}  // namespace
}  // namespace ingot::os
