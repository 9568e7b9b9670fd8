#include "os/process/program_account.h"

#include <gtest/gtest.h>

#include "os/schedule/scheduler.h"

namespace ingot::os {
namespace {

class NoMemory final : public MemoryObject {
 public:
  NoMemory() : MemoryObject("none", Pages::kept, PageSize::giant, CacheMode::write_back) {}
  Result<Backing> fault(std::uint64_t, PageSize) override { return Error::of(ErrorCode::unsupported, "none"); }
};

class ProgramAccounts : public ::testing::Test {
 protected:
  Region region(std::uint64_t pages, bool promised) {
    RegionFields fields;
    fields.begin = VirtualAddress(large_page_bytes);
    fields.bytes = pages * page_bytes;
    fields.promised = promised;
    fields.policy = PagePolicy::large_first;
    fields.object = &object;
    return Region(fields);
  }
  static MappedPage page(PageSize size, FrameOwnership ownership) {
    return {VirtualAddress(large_page_bytes), PhysicalAddress(0), size, {Access::read, {}, {}, ownership}};
  }
  NoMemory object;
  ProgramAccount account{10 * page_bytes};
};

TEST_F(ProgramAccounts, ChargePromisesAtOnceAndReservationsByTouch) {
  const Region promised = region(6, true), reserved = region(1000, false);
  ASSERT_TRUE(account.allow(promised).ok() && account.allow(reserved).ok());
  account.add(promised);
  account.add(reserved);
  EXPECT_EQ(account.charged(), 6 * page_bytes);
  const MappedPage own = page(PageSize::small, FrameOwnership::counted);
  account.show(promised, own);
  EXPECT_EQ(account.charged(), 6 * page_bytes);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(account.allow_touch(reserved, Access::write).ok());
    account.show(reserved, own);
  }
  EXPECT_EQ(account.allow_touch(reserved, Access::write).error().code(), ErrorCode::out_of_memory);
  EXPECT_TRUE(account.allow_touch(reserved, Access::read).ok());  // of a file
  EXPECT_EQ(account.allow(region(1, true)).error().code(), ErrorCode::out_of_memory);
  account.hide(reserved, own);
  EXPECT_TRUE(account.allow_touch(reserved, Access::write).ok());
  account.show(reserved, own);
  account.remove(promised);
  EXPECT_EQ(account.charged(), 4 * page_bytes);
  EXPECT_EQ(account.charges().peak(), 10 * page_bytes);
  EXPECT_EQ(account.addresses().now(), 1000 * page_bytes);
  EXPECT_EQ(account.addresses().peak(), 1006 * page_bytes);
  EXPECT_EQ(account.resident().now(), 5 * page_bytes);
}

// Who is refused a page ends: strangers shall not bring that about by what they send.
TEST_F(ProgramAccounts, RefuseNoPageForWhatSocketsHold) {
  ProgramAccount::Peaked sockets;
  account.charge_sockets(sockets);
  const Region reserved = region(1000, false);
  sockets.set(10 * page_bytes);
  EXPECT_EQ(account.charged(), 10 * page_bytes);
  EXPECT_FALSE(account.allow(region(1, true)).ok()) << "a promise can wait";
  EXPECT_FALSE(account.has_room(page_bytes)) << "and so can what comes";
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(account.allow_touch(reserved, Access::write).ok());
    account.show(reserved, page(PageSize::small, FrameOwnership::counted));
  }
  EXPECT_FALSE(account.allow_touch(reserved, Access::write).ok());
  EXPECT_EQ(account.charged(), 20 * page_bytes);
}

TEST_F(ProgramAccounts, CountWhatIsShownInPlaceAndWhatFellBack) {
  const Region file = region(1024, false);
  account.show(file, page(PageSize::large, FrameOwnership::borrowed));
  EXPECT_EQ(account.fall_backs(), 0u);
  account.show(file, page(PageSize::small, FrameOwnership::borrowed));
  EXPECT_EQ(account.fall_backs(), 1u);
  EXPECT_EQ(account.shown(PageSize::large, FrameOwnership::borrowed), 1u);
  EXPECT_EQ(account.in_place(), large_page_bytes + page_bytes);
  account.hide(file, page(PageSize::large, FrameOwnership::borrowed));
  EXPECT_EQ(account.in_place(), page_bytes);
  EXPECT_EQ(account.charged(), 0u);
  EXPECT_EQ(account.resident().peak(), 0u);
}

TEST_F(ProgramAccounts, LimitAddressesWhateverTheyShow) {
  Region shared = region(1000, false);
  shared.sharing = Sharing::shared;
  ASSERT_TRUE(account.allow(shared).ok());
  account.limit_addresses(1500 * page_bytes);
  ASSERT_TRUE(account.allow(shared).ok());
  account.add(shared);
  EXPECT_EQ(account.allow(shared).error().code(), ErrorCode::out_of_memory);
  EXPECT_TRUE(account.allow(region(500, false)).ok());
  account.limit_addresses(10 * page_bytes);  // below what there is
  EXPECT_FALSE(account.allow(region(1, false)).ok());
  account.remove(shared);
  EXPECT_TRUE(account.allow(region(1, false)).ok());
}

}  // namespace
}  // namespace ingot::os
