#include "machine/gpu/cuda/cuda_queue.h"

#include <gtest/gtest.h>

#include "machine/gpu/cuda/fake_driver.h"

namespace ingot {
namespace {

constexpr unsigned char binary[] = {1, 2, 3};
const DeviceModule rows_module = {"rows_cuda", binary, binary + 3};
const DeviceModule empty_module = {"empty_cuda", nullptr, nullptr};
const DeviceFunction rows_function = {&rows_module, "rows", nullptr};
const DeviceFunction columns_function = {&rows_module, "columns", nullptr};
const DeviceFunction missing_function = {&empty_module, "missing", nullptr};

struct Numbers {
  std::int32_t first;
  std::int32_t second;
};

struct Fixture {
  FakeDriver fake;
  std::unique_ptr<CudaDevice> device = std::move(CudaDevice::create(fake.driver(), 0)).value();
  std::unique_ptr<CudaQueue> queue = std::move(CudaQueue::create(*device, Pace::free)).value();

  std::string failure() {
    const Result<void> done = queue->wait();
    return done.ok() ? std::string() : std::string(done.error().text());
  }
};

TEST(CudaQueue, LaunchesWithShapeAndParameters) {
  Fixture f;
  f.fake.parameter_bytes = sizeof(Numbers);
  f.queue->launch(rows_function, {.blocks = 4, .blocks_y = 3, .blocks_z = 2, .threads = 64, .shared_bytes = 100},
                  Numbers{7, 9});
  EXPECT_EQ(f.fake.launches, std::vector<std::string>{"rows 4x3x2x64+100 early"});
  EXPECT_EQ(f.fake.last_parameters, (std::vector<std::uint8_t>{7, 0, 0, 0, 9, 0, 0, 0}));
  EXPECT_EQ(f.failure(), "");
}

TEST(CudaQueue, LaunchesBeginEarlyWhereTheChipCan) {
  FakeDriver fake;
  fake.capability = 80;
  const auto device = std::move(CudaDevice::create(fake.driver(), 0)).value();
  const auto queue = std::move(CudaQueue::create(*device, Pace::free)).value();
  queue->launch(rows_function, {}, Numbers{});
  EXPECT_EQ(fake.launches, std::vector<std::string>{"rows 1x1x1x32+0"});
}

TEST(CudaQueue, NoBlocksAndNoBytesAreNoWork) {
  Fixture f;
  f.queue->launch(rows_function, {.blocks = 0}, Numbers{});
  f.queue->launch(rows_function, {.blocks_y = 0}, Numbers{});
  f.queue->launch(rows_function, {.blocks_z = 0}, Numbers{});
  f.queue->copy_in(nullptr, nullptr, 0);
  f.queue->copy_out(nullptr, nullptr, 0);
  f.queue->copy_within(nullptr, nullptr, 0);
  f.queue->fill(nullptr, 1, 0);
  EXPECT_TRUE(f.fake.launches.empty());
  EXPECT_EQ(f.fake.count("cuMemcpyHtoDAsync_v2") + f.fake.count("cuMemsetD8Async"), 0);
  EXPECT_EQ(f.failure(), "");
}

TEST(CudaQueue, AModuleIsLoadedOnceAndWhenItIsFirstNeeded) {
  Fixture f;
  EXPECT_EQ(f.fake.count("cuModuleLoadData"), 0);
  const auto second = CudaQueue::create(*f.device, Pace::free);
  for (int count = 0; count < 3; ++count) {
    f.queue->launch(rows_function, {}, Numbers{});
    second.value()->launch(columns_function, {}, Numbers{});
  }
  EXPECT_EQ(f.fake.count("cuModuleLoadData"), 1);
  EXPECT_EQ(f.fake.count("cuModuleGetFunction"), 2);
  EXPECT_EQ(f.fake.count("cuFuncLoad"), 2);
}

TEST(CudaQueue, MoreSharedMemoryIsAskedForOnce) {
  Fixture f;
  f.queue->launch(rows_function, {.shared_bytes = 0}, Numbers{});
  EXPECT_EQ(f.fake.count("cuFuncSetAttribute"), 0);
  // Below 48 KiB too: a function may have declared the rest.
  for (const std::uint32_t kibibytes : {47U, 64U, 50U, 64U, 100U}) {
    f.queue->launch(rows_function, {.shared_bytes = kibibytes << 10}, Numbers{});
  }
  EXPECT_EQ(f.fake.count("cuFuncSetAttribute"), 3);
  f.fake.fail_symbol = "cuFuncSetAttribute";
  f.fake.fail_with = cuda::Status::invalid_value;
  f.queue->launch(columns_function, {.shared_bytes = 300 << 10}, Numbers{});
  EXPECT_NE(f.failure().find("307200 bytes of shared memory was launched: cuFuncSetAttribute"), std::string::npos)
      << f.failure();
}

TEST(CudaQueue, TheFirstFailureIsKeptAndWhatFollowsIsLeftOut) {
  Fixture f;
  f.queue->name_step("norm of layer 3");
  f.fake.fail_symbol = "cuLaunchKernelEx";
  f.queue->launch(rows_function, {.blocks = 5}, Numbers{});
  f.fake.fail_symbol = "";
  f.queue->launch(columns_function, {}, Numbers{});
  f.queue->copy_in(nullptr, nullptr, 16);
  EXPECT_TRUE(f.fake.launches.empty());
  EXPECT_EQ(f.fake.count("cuMemcpyHtoDAsync_v2"), 0);
  const std::string told = f.failure();
  EXPECT_EQ(told,
            "while step 'norm of layer 3': rows of rows_cuda, 5x1x1 blocks of 32 threads, 0 bytes of shared memory was "
            "launched: cuLaunchKernelEx: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)");
  EXPECT_EQ(f.failure(), told);
  EXPECT_EQ(f.fake.count("cuStreamSynchronize"), 0);
  EXPECT_FALSE(f.queue->begin_recording().ok());
}

TEST(CudaQueue, ARefusedModuleIsNamedAndAMissingOneSaysHowToBuildIt) {
  {
    Fixture f;
    f.fake.fail_symbol = "cuModuleLoadData";
    f.queue->launch(rows_function, {}, Numbers{});
    EXPECT_NE(f.failure().find("rows of rows_cuda, 1x1x1"), std::string::npos) << f.failure();
    EXPECT_NE(f.failure().find("cuModuleLoadData: CUDA_ERROR"), std::string::npos) << f.failure();
  }
  Fixture f;
  f.queue->launch(missing_function, {}, Numbers{});
  EXPECT_NE(f.failure().find("expected device code of empty_cuda, found a program that carries none"),
            std::string::npos)
      << f.failure();
}

TEST(CudaQueue, AFailedCopyNamesItsStep) {
  Fixture f;
  f.queue->name_step("upload");
  f.fake.fail_symbol = "cuMemcpyHtoDAsync_v2";
  f.queue->copy_in(nullptr, nullptr, 16);
  EXPECT_TRUE(f.failure().starts_with("step 'upload': while bytes were copied to the device: cuMemcpyHtoDAsync_v2: "))
      << f.failure();
}

TEST(CudaQueue, AFaultOnTheDeviceIsToldByTheOnlyLaunchOrByTheFirstAndTheLast) {
  {
    Fixture f;
    f.queue->name_step("one");
    f.queue->launch(columns_function, {}, Numbers{});
    EXPECT_EQ(f.failure(), "");
    f.queue->name_step("two");
    f.queue->launch(rows_function, {.blocks = 2}, Numbers{});
    f.fake.fail_symbol = "cuStreamSynchronize";
    EXPECT_TRUE(f.failure().starts_with("while the device ran step 'two': rows of rows_cuda, 2x1x1 blocks"))
        << f.failure();
    f.fake.fail_symbol = "";
    EXPECT_NE(f.failure(), "");  // for ever
  }
  Fixture f;
  f.queue->name_step("one, of which more is known");
  f.queue->launch(columns_function, {}, Numbers{});
  f.queue->launch(columns_function, {}, Numbers{});
  f.queue->name_step("two");
  f.queue->launch(rows_function, {}, Numbers{});
  f.fake.fail_symbol = "cuStreamSynchronize";
  EXPECT_TRUE(
      f.failure().starts_with("in one of 3 launches from step 'one', columns to step 'two': rows of rows_cuda, 1x1x1"))
      << f.failure();
}

// A plan may be let go of when a mark says that its steps are done, and a fault comes later.
TEST(CudaQueue, ANameOfAStepThatIsDoneNeedNotStay) {
  Fixture f;
  const auto mark = std::move(f.queue->make_mark()).value();
  std::string name = "a step of a plan";
  f.queue->name_step(name);
  f.queue->launch(columns_function, {}, Numbers{});
  ASSERT_TRUE(mark->place().ok());
  ASSERT_TRUE(mark->wait().ok());
  name.assign(name.size(), '?');
  f.queue->name_step("two");
  f.queue->launch(rows_function, {}, Numbers{});
  f.fake.fail_symbol = "cuStreamSynchronize";
  EXPECT_TRUE(f.failure().starts_with("in one of 2 launches from step 'a step of a plan', columns to step 'two': rows"))
      << f.failure();
}

TEST(CudaQueue, OneByOneTheFaultingLaunchIsKnown) {
  Fixture f;
  const auto slow = std::move(CudaQueue::create(*f.device, Pace::one_by_one)).value();
  slow->name_step("one");
  slow->launch(columns_function, {}, Numbers{});
  f.fake.fail_symbol = "cuStreamSynchronize";
  slow->name_step("two");
  slow->launch(rows_function, {}, Numbers{});
  f.fake.fail_symbol = "";
  slow->name_step("three");
  slow->launch(columns_function, {}, Numbers{});
  const Result<void> done = slow->wait();
  ASSERT_FALSE(done.ok());
  EXPECT_TRUE(done.error().text().starts_with("while the device ran step 'two': rows of")) << done.error().text();
  EXPECT_EQ(f.fake.launches.size(), 2U);
}

TEST(CudaRecording, WorkIsCapturedOnceAndLaunchedAgain) {
  Fixture f;
  ASSERT_TRUE(f.queue->begin_recording().ok());
  f.queue->launch(rows_function, {}, Numbers{});
  const auto recording = f.queue->end_recording();
  ASSERT_TRUE(recording.ok());
  f.fake.launches.clear();
  f.queue->name_step("pass");
  f.queue->replay(*recording.value());
  f.queue->replay(*recording.value());
  EXPECT_EQ(f.fake.launches, (std::vector<std::string>{"graph", "graph"}));
  f.fake.fail_symbol = "cuStreamSynchronize";
  EXPECT_TRUE(f.failure().starts_with("in one of 2 launches from step 'pass', a graph to step 'pass': a graph: "))
      << f.failure();
}

TEST(CudaRecording, OneThatIsDroppedEndsAndOneThatFailsSaysWhy) {
  Fixture f;
  {
    const auto dropped = CudaQueue::create(*f.device, Pace::free);
    ASSERT_TRUE(dropped.value()->begin_recording().ok());
  }
  EXPECT_EQ(f.fake.count("cuStreamEndCapture"), 1);
  EXPECT_EQ(f.fake.count("cuGraphDestroy"), 1);
  ASSERT_TRUE(f.queue->begin_recording().ok());
  f.fake.fail_symbol = "cuLaunchKernelEx";
  f.queue->launch(rows_function, {}, Numbers{});
  const auto recording = f.queue->end_recording();
  ASSERT_FALSE(recording.ok());
  EXPECT_NE(recording.error().text().find("rows of rows_cuda"), std::string_view::npos) << recording.error().text();
  EXPECT_EQ(f.fake.count("cuStreamEndCapture"), 2);
}

TEST(CudaMark, TellsTheTimeBetweenTwoPoints) {
  Fixture f;
  const auto begin = std::move(f.queue->make_mark()).value();
  const auto end = std::move(f.queue->make_mark()).value();
  ASSERT_TRUE(begin->place().ok());
  ASSERT_TRUE(end->place().ok());
  ASSERT_TRUE(end->wait().ok());
  const auto seconds = end->seconds_since(*begin);
  ASSERT_TRUE(seconds.ok());
  EXPECT_DOUBLE_EQ(seconds.value(), 0.0025);
}

TEST(CudaMark, TellsWhatFailedBeforeIt) {
  Fixture f;
  const auto mark = std::move(f.queue->make_mark()).value();
  f.queue->name_step("norm");
  f.queue->launch(rows_function, {}, Numbers{});
  ASSERT_TRUE(mark->place().ok());
  f.fake.fail_symbol = "cuEventSynchronize";
  const auto waited = mark->wait();
  ASSERT_FALSE(waited.ok());
  EXPECT_TRUE(waited.error().text().starts_with("while the device ran step 'norm': rows of")) << waited.error().text();
  EXPECT_EQ(f.failure(), waited.error().text());
  EXPECT_FALSE(mark->seconds_since(*mark).ok());
}

// The driver knows nothing of it: for all that it was given, the mark is there.
TEST(CudaMark, TellsWhatWasNeverLaunched) {
  Fixture f;
  const auto mark = std::move(f.queue->make_mark()).value();
  f.fake.fail_symbol = "cuLaunchKernelEx";
  f.queue->launch(rows_function, {}, Numbers{});
  EXPECT_FALSE(mark->place().ok());
  EXPECT_FALSE(mark->wait().ok());
}

// All that there is, once. `body` becomes how many calls there were before anything was given back for good.
Result<void> whole_life(FakeDriver& fake, std::size_t& body) {
  const auto device = TRY(CudaDevice::create(fake.driver(), 0));
  const DeviceMemory memory = TRY(device->allocate(256));
  const PinnedMemory pinned = TRY(device->allocate_pinned(256));
  const auto range = TRY(device->reserve(4 * fake.granule));
  TRY(range->grow_to(1));
  TRY(range->grow_to(fake.granule + 1));
  const auto queue = TRY(CudaQueue::create(*device, Pace::free));
  const auto begin = TRY(queue->make_mark());
  const auto end = TRY(queue->make_mark());
  TRY(begin->place());
  queue->copy_in(memory.data(), pinned.data(), 256);
  queue->launch(rows_function, {.shared_bytes = 64 << 10}, Numbers{});
  queue->copy_out(pinned.data(), memory.data(), 256);
  TRY(queue->wait());
  TRY(queue->begin_recording());
  queue->launch(columns_function, {}, Numbers{});
  const auto recording = TRY(queue->end_recording());
  queue->replay(*recording);
  TRY(end->place());
  TRY(end->seconds_since(*begin));
  TRY(device->disturb(1));
  TRY(device->disturb(0));
  const Result<void> done = queue->wait();
  body = fake.calls.size();
  return done;
}

// Whether the failure of a call is somebody's to hear. What ends or gives back something is called even where the
// context could not be entered, and then its own result is told; of a graph's template, which was used, not even that.
bool is_told(const std::vector<std::string>& calls, std::size_t index) {
  if (calls[index] != "cuCtxSetCurrent") return calls[index] != "cuGraphDestroy";
  const std::string& next = calls[index + 1];
  return next != "cuGraphDestroy" && next != "cuMemRelease" && next != "cuStreamEndCapture";
}

TEST(CudaLife, WhicheverCallFailsIsToldAndNothingIsLeftBehind) {
  std::vector<std::string> calls;
  std::size_t body = 0;
  {
    FakeDriver fake;
    const Result<void> lived = whole_life(fake, body);
    ASSERT_TRUE(lived.ok()) << lived.error().text();
    calls = fake.calls;
  }
  for (std::size_t index = 0; index < calls.size(); ++index) {
    FakeDriver fake;
    fake.fail_at = static_cast<int>(index) + 1;
    std::size_t ignored = 0;
    const Result<void> lived = whole_life(fake, ignored);
    EXPECT_EQ(lived.ok(), index >= body || !is_told(calls, index)) << "call " << index << ", " << calls[index];
    for (const auto& [handle, kind] : fake.live) ADD_FAILURE() << calls[index] << " failed, and left " << kind;
    for (const std::string& mistake : fake.mistakes) ADD_FAILURE() << calls[index] << " failed: " << mistake;
    EXPECT_TRUE(fake.mapped.empty()) << calls[index];
  }
}

}  // namespace
}  // namespace ingot
