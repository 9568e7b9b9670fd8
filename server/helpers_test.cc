#include "server/helpers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

namespace ingot {
namespace {

// The one thread of the helpers is held at its first task until it is let go.
class HeldHelpers : public ::testing::Test {
 protected:
  void SetUp() override {
    helpers_.run([this] {
      is_held_.set_value();
      let_go_.get_future().wait();
    });
    is_held_.get_future().wait();
  }

  std::promise<void> is_held_, let_go_;
  std::atomic<int> done_ = 0;
  Helpers helpers_{1, {.tasks = 3, .bytes = 100}};
};

TEST(Helpers, DoAllThatTheyTake) {
  std::atomic<int> done = 0;
  std::promise<void> all;
  Helpers helpers(3);
  for (int task = 0; task < 1000; ++task) {
    const bool is_taken = helpers.offer({[&] {
      if (++done == 1000) helpers.run([&] { all.set_value(); });
    }});
    EXPECT_TRUE(is_taken);
  }
  all.get_future().wait();
  EXPECT_EQ(done, 1000);
}

TEST_F(HeldHelpers, TakeNoMoreTasksAndBytesThanTheyMay) {
  EXPECT_TRUE(helpers_.offer({[] {}, 1000}));  // alone
  EXPECT_FALSE(helpers_.offer({[] {}, 1, this}));
  EXPECT_TRUE(helpers_.drop(nullptr));
  EXPECT_TRUE(helpers_.offer({[] {}, 60}));
  EXPECT_FALSE(helpers_.offer({[] {}, 60}));
  EXPECT_TRUE(helpers_.offer({[] {}, 40}));
  EXPECT_TRUE(helpers_.offer({[] {}, 0}));
  EXPECT_FALSE(helpers_.offer({[] {}, 0}));
  helpers_.run([this] { ++done_; });  // which was taken before
  let_go_.set_value();
}

TEST_F(HeldHelpers, DoNotDoWhatWasDropped) {
  std::promise<void> last;
  EXPECT_TRUE(helpers_.offer({[this] { ++done_; }, 100, this}));
  EXPECT_TRUE(helpers_.drop(this));
  EXPECT_FALSE(helpers_.drop(this));
  EXPECT_TRUE(helpers_.offer({[&] { last.set_value(); }, 100, &last}));  // its bytes are free
  let_go_.set_value();
  last.get_future().wait();
  EXPECT_FALSE(helpers_.drop(&last));
  EXPECT_EQ(done_, 0);
}

TEST_F(HeldHelpers, DoTheRestOfWhatTheyTookFirst) {
  std::promise<int> done_before;
  EXPECT_TRUE(helpers_.offer({[&] { done_before.set_value(done_); }}));
  helpers_.run([this] { ++done_; });
  let_go_.set_value();
  EXPECT_EQ(done_before.get_future().get(), 1);
}

TEST_F(HeldHelpers, LeaveWhatWaitsWhenTheyEnd) {
  const auto held = std::make_shared<int>();
  EXPECT_TRUE(helpers_.offer({[this, held] { ++done_; }, 1, this}));
  std::thread ender([this] { helpers_.end(); });
  while (held.use_count() > 1) std::this_thread::yield();  // dropped before what is being done is done
  let_go_.set_value();
  ender.join();
  EXPECT_EQ(done_, 0);
  EXPECT_FALSE(helpers_.offer({[] {}}));
}

}  // namespace
}  // namespace ingot
