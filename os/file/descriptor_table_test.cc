#include "os/file/descriptor_table.h"

#include "os/file/file_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;

class NoFile final : public FileDescription {
 public:
  explicit NoFile(int* closed) : FileDescription(open_flag::read_write), closed_(closed) {}
  ~NoFile() { ++*closed_; }
  Answer<FileStatus> status() override { return FileStatus{}; }

 private:
  int* closed_;
};

class Descriptors : public Files {
 protected:
  Reference<FileDescription> make() { return make_reference<NoFile>(heap, &closed).value(); }
  std::int32_t add(std::int32_t lowest = 0) { return table.add(make(), OnExecute::keeps, lowest).value(); }

  int closed = 0;
  DescriptorTable table{heap, 40};
};

TEST_F(Descriptors, TheLowestFreeNumberIsTaken) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(add(), i);
  EXPECT_TRUE(table.close(3).ok());
  EXPECT_TRUE(table.close(7).ok());
  EXPECT_EQ(add(5), 7);
  EXPECT_EQ(add(), 3);
  EXPECT_EQ(add(), 20);
  EXPECT_EQ(add(30), 30);
  EXPECT_EQ(add(), 21);
  EXPECT_EQ(table.count(), 23u);
}

TEST_F(Descriptors, NumbersNobodyHasAreEbadf) {
  EXPECT_EQ(table.find(0).error(), Errno::ebadf);
  EXPECT_EQ(table.find(-1).error(), Errno::ebadf);
  EXPECT_EQ(table.find(1'000'000).error(), Errno::ebadf);
  EXPECT_EQ(table.close(5).error(), Errno::ebadf);
  EXPECT_EQ(table.on_execute(5).error(), Errno::ebadf);
  add();
  EXPECT_TRUE(table.find(0).ok());
  EXPECT_TRUE(table.close(0).ok());
  EXPECT_EQ(table.close(0).error(), Errno::ebadf);
  EXPECT_EQ(closed, 1);
}

TEST_F(Descriptors, TheLimitIsEmfile) {
  for (int i = 0; i < 40; ++i) EXPECT_EQ(add(), i);
  EXPECT_EQ(table.add(make(), OnExecute::keeps).error(), Errno::emfile);
  EXPECT_EQ(table.add(make(), OnExecute::keeps, 40).error(), Errno::einval);
  EXPECT_EQ(table.put(40, make(), OnExecute::keeps).error(), Errno::ebadf);
  EXPECT_EQ(table.put(-1, make(), OnExecute::keeps).error(), Errno::ebadf);
  table.set_limit(50);
  EXPECT_EQ(add(), 40);
  EXPECT_EQ(closed, 4);
}

TEST_F(Descriptors, PutClosesWhatWasThere) {
  add();
  EXPECT_EQ(table.put(0, make(), OnExecute::closes).value(), 0);
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(table.on_execute(0).value(), OnExecute::closes);
  EXPECT_EQ(table.put(33, make(), OnExecute::keeps).value(), 33);
  EXPECT_EQ(add(), 1);
}

TEST_F(Descriptors, SharedDescriptionsLiveWithTheLastNumber) {
  add();
  EXPECT_EQ(table.add(table.find(0).value(), OnExecute::keeps).value(), 1);
  EXPECT_EQ(table.find(0).value(), table.find(1).value());
  EXPECT_TRUE(table.close(0).ok());
  EXPECT_EQ(closed, 0);
  EXPECT_TRUE(table.close(1).ok());
  EXPECT_EQ(closed, 1);
}

TEST_F(Descriptors, RangesAndExecution) {
  for (int i = 0; i < 10; ++i) add();
  EXPECT_TRUE(table.set_on_execute(1, OnExecute::closes).ok());
  table.mark_range(8, ~0u);
  table.close_range(3, 5);
  EXPECT_EQ(closed, 3);
  table.close_for_execute();
  EXPECT_EQ(closed, 6);
  EXPECT_EQ(table.next_used(0), 0);
  EXPECT_EQ(table.next_used(1), 2);
  EXPECT_EQ(table.next_used(3), 6);
  EXPECT_EQ(table.next_used(8), -1);
  table.close_range(0, ~0u);
  EXPECT_EQ(closed, 10);
}

TEST_F(Descriptors, AReservedNumberIsNobodysUntilItIsFilled) {
  EXPECT_EQ(table.reserve().value(), 0);
  EXPECT_EQ(table.find(0).error(), Errno::ebadf);
  EXPECT_EQ(table.close(0).error(), Errno::ebadf);
  EXPECT_EQ(table.put(0, make(), OnExecute::keeps).error(), Errno::ebusy);
  EXPECT_EQ(add(), 1);
  table.close_range(0, ~0u);
  table.mark_range(0, ~0u);
  table.close_for_execute();
  EXPECT_EQ(closed, 2);
  table.fill(0, make(), OnExecute::keeps);
  EXPECT_TRUE(table.find(0).ok());
  EXPECT_EQ(table.on_execute(0).value(), OnExecute::keeps);
  EXPECT_EQ(table.reserve().value(), 1);
  table.release(1);
  EXPECT_EQ(add(), 1);
  table.set_limit(2);
  EXPECT_EQ(table.reserve().error(), Errno::emfile);
}

TEST_F(Descriptors, ALargeTableGrowsByBlocksAndOnlyThose) {
  constexpr std::int32_t many = 65'536;
  table.set_limit(many);
  const Reference<FileDescription> file = make();
  EXPECT_EQ(table.put(many - 1, file, OnExecute::keeps).value(), many - 1);
  heap.left = 1;  // a block for the first 64
  for (int i = 0; i < 64; ++i) EXPECT_EQ(table.add(file, OnExecute::keeps).value(), i);
  EXPECT_EQ(table.add(file, OnExecute::keeps).error(), Errno::enomem);
  heap.left = 2000;
  for (std::int32_t i = 64; i < many - 1; ++i) ASSERT_EQ(table.add(file, OnExecute::keeps).value(), i);
  EXPECT_EQ(table.add(file, OnExecute::keeps).error(), Errno::emfile);
  EXPECT_EQ(table.count(), static_cast<std::uint32_t>(many));
}

TEST_F(Descriptors, WithoutMemoryNothingIsAdded) {
  Reference<FileDescription> file = make();
  heap.left = 0;
  EXPECT_EQ(table.add(file, OnExecute::keeps).error(), Errno::enomem);
  EXPECT_EQ(table.put(3, file, OnExecute::keeps).error(), Errno::enomem);
  EXPECT_EQ(file->references(), 1u);
}

}  // namespace
}  // namespace ingot::os
