// Contracts through an accelerator's queue: right ones give the bits that they give here, wrong ones are refused.
#include <sys/resource.h>

#include <bit>
#include <cstring>
#include <fstream>

#include "accelerator/broker_fixture.h"
#include "kernels/contract/accelerated_call.h"
#include "kernels/contract/case_builder.h"
#include "kernels/contract/table.h"
#include "machine/memory.h"
#include "profile/compare.h"
#include "profile/tensor_pieces.h"

namespace ingot {
namespace {

using accelerator::vendor_packet;
using accelerator::VendorCode;

std::string text_of_failure(const Result<void>& result) {
  return result.ok() ? "" : std::string(result.error().text());
}

// A case of an operation, and a copy of it in memory that the worker sees.
struct SharedCall {
  SharedCall(AcceleratorDevice& device, const Operation& operation, int case_index)
      : builder(7, Regime::ordinary, LayoutStyle::padded, 0xa5), here(operation.build(case_index, builder)) {
    const std::vector<Footprint> pieces = tensor_pieces(operation, *here);
    std::vector<std::byte*> homes;
    for (const Footprint& piece : pieces) {
      memories.push_back(device.allocate(piece.size() + 128).value());
      std::byte* const home = memories.back().data() + piece.begin % 64;
      if (piece.size() > 0) std::memcpy(home, std::bit_cast<const void*>(piece.begin), piece.size());
      homes.push_back(home);
    }
    there = moved_call(operation, *here, pieces, homes, Place::host).value();
  }
  CaseBuilder builder;
  std::unique_ptr<Invocation> here;
  std::vector<DeviceMemory> memories;
  std::unique_ptr<Invocation> there;
};

void run_here(const Operation& operation, const Invocation& call) {
  const FeatureSet features = Machine::detect().features;
  const std::array operations = {&operation};
  const KernelTable table = KernelTable::select(operations, features).value();
  const auto workers = Workers::create({.threads = 1}).value();
  const int row = table.choose(operation, call);
  const Memory scratch = Memory::allocate(Bytes(call.scratch_bytes(row, 1))).value();
  Context context{*workers, scratch.bytes()};
  call.run(row, context);
}

void expect_equal_bits(const Operation& operation, const SharedCall& call) {
  for (std::size_t field = 0; field < operation.fields.size(); ++field) {
    if (!operation.fields[field].is_tensor || !is_written(operation.fields[field].role)) continue;
    const int index = static_cast<int>(field);
    if (!is_present(call.here->tensor(index))) continue;
    EXPECT_TRUE(bit_equal(call.here->tensor(index), call.there->tensor(index))) << operation.name;
  }
}

// The first case of an operation that proves parity, and has something in it.
int first_case(const Operation& operation) {
  for (std::size_t index = 0; index < operation.cases.size(); ++index) {
    if (operation.cases[index].purpose == CasePurpose::parity) return static_cast<int>(index);
  }
  return 0;
}

class Accelerator : public WithBroker {
 protected:
  void SetUp() override {
    auto opened = AcceleratorDevice::open(broker.path());
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    device = std::move(opened).value();
    auto made = device->make_accelerator_queue();
    ASSERT_TRUE(made.ok()) << made.error().text();
    queue = std::move(made).value();
  }
  Result<void> run(const Operation& operation, const Invocation& call) {
    TRY(AcceleratedCalls(*queue).put(operation, call));
    return queue->wait();
  }
  std::unique_ptr<AcceleratorDevice> device;
  std::unique_ptr<AcceleratorQueue> queue;
};

TEST(CallArguments, OfEveryContractSurviveTheWay) {
  for (const Operation* operation : all_operations()) {
    int left = 2;  // the second is larger, or has what the first leaves out
    for (std::size_t index = 0; index < operation->cases.size(); ++index) {
      if (operation->cases[index].purpose != CasePurpose::parity || left-- <= 0) continue;
      CaseBuilder builder(3, Regime::ordinary, LayoutStyle::padded, 0xa5);
      const std::unique_ptr<Invocation> call = operation->build(static_cast<int>(index), builder);
      std::vector<std::byte> bytes(call_bytes(*operation)), again(bytes.size());
      ASSERT_TRUE(encode_call(*operation, *call, bytes).ok()) << operation->name;
      const auto same = [](std::uint64_t begin, std::uint64_t, accelerator::Access) -> Result<std::byte*> {
        return std::bit_cast<std::byte*>(begin);
      };
      const auto decoded = decode_call(*operation, bytes, same);
      ASSERT_TRUE(decoded.ok()) << decoded.error().text();
      EXPECT_EQ(text_of_failure(decoded.value()->check()), "") << operation->name;
      ASSERT_TRUE(encode_call(*operation, *decoded.value(), again).ok());
      // Tensors without elements may lie anywhere.
      for (std::size_t field = 0; field < operation->fields.size(); ++field) {
        const ConstAnyView view = call->tensor(static_cast<int>(field));
        if (operation->fields[field].is_tensor && view.empty()) continue;
        const std::size_t begin = accelerator::block_bytes_of(field);
        EXPECT_EQ(std::memcmp(bytes.data() + begin, again.data() + begin, sizeof(accelerator::ArgumentRecord)), 0)
            << operation->name << " " << operation->fields[field].name;
      }
    }
  }
}

TEST(ContractDigest, DiffersBetweenAllContracts) {
  std::map<std::uint64_t, std::string_view> seen;
  for (const Operation* operation : all_operations()) {
    const auto [found, is_new] = seen.emplace(contract_digest(*operation), operation->name);
    EXPECT_TRUE(is_new) << operation->name << " and " << found->second;
  }
}

TEST_F(Accelerator, GivesTheBitsThatThisProcessGives) {
  for (const char* name :
       {"norm.rms_norm", "linear.matmul", "attention.softmax", "layout.gather_rows", "loss.cross_entropy"}) {
    const Operation& operation = *find_operation(name);
    SharedCall call(*device, operation, first_case(operation));
    ASSERT_EQ(text_of_failure(run(operation, *call.there)), "") << name;
    run_here(operation, *call.here);
    expect_equal_bits(operation, call);
  }
}

TEST_F(Accelerator, RunsAListAgainOnWhatMemoryHoldsThen) {
  const Operation& operation = *find_operation("norm.rms_norm");
  SharedCall call(*device, operation, first_case(operation));
  ASSERT_TRUE(queue->begin_recording().ok());
  ASSERT_TRUE(AcceleratedCalls(*queue).put(operation, *call.there).ok());
  const auto recorded = queue->end_recording();
  ASSERT_TRUE(recorded.ok()) << recorded.error().text();
  for (int round = 0; round < 3; ++round) {
    for (const auto* invocation : {call.here.get(), call.there.get()}) {
      const ConstAnyView x = invocation->tensor(operation.field_index("x"));
      auto* first = reinterpret_cast<float*>(const_cast<std::byte*>(x.data()));
      *first = static_cast<float>(round + 1);
    }
    queue->replay(*recorded.value());
    ASSERT_EQ(text_of_failure(queue->wait()), "");
    run_here(operation, *call.here);
    expect_equal_bits(operation, call);
  }
}

TEST_F(Accelerator, RefusesAConstraintThatDoesNotHoldInTheContractsWords) {
  const Operation& operation = *find_operation("norm.rms_norm");
  SharedCall call(*device, operation, first_case(operation));
  call.there->set_attribute(operation.field_index("epsilon"), -1.0);
  const std::string found = text_of_failure(run(operation, *call.there));
  EXPECT_NE(found.find("norm.rms_norm C5"), std::string::npos) << found;
  // And goes on.
  SharedCall right(*device, operation, first_case(operation));
  EXPECT_EQ(text_of_failure(run(operation, *right.there)), "");
}

TEST_F(Accelerator, RefusesTensorsOutsideOfWhatItWasShown) {
  const Operation& operation = *find_operation("norm.rms_norm");
  SharedCall call(*device, operation, first_case(operation));
  // Memory of this process that was not shown.
  std::string found = text_of_failure(run(operation, *call.here));
  EXPECT_NE(found.find("expected memory that was mapped"), std::string::npos) << found;
  // One row behind the end.
  const auto client = AcceleratorClient::connect(broker.path()).value();
  const SharedMemory memory = SharedMemory::create(Bytes(4096), "test").value();
  ASSERT_TRUE(client->map(memory).ok());
  const std::unique_ptr<Invocation> moved = call.there->clone();
  const auto place = [&](std::string_view field, std::byte* data, const Shape& shape) {
    return moved->set_tensor(operation.field_index(field), AnyView(data, DType::f32, shape)).ok();
  };
  const auto run_packet = [&](AcceleratorClient& by) {
    std::byte* const block = memory.data() + 2048;
    EXPECT_TRUE(encode_call(operation, *moved, {block, call_bytes(operation)}).ok());
    const auto done =
        by.call(accelerator::dispatch_packet(contract_digest(operation), reinterpret_cast<std::uintptr_t>(block), 0));
    return done.ok() ? std::string() : std::string(done.error().text());
  };
  ASSERT_TRUE(place("x", memory.data(), {4, 4}) && place("gamma", memory.data() + 512, {4}) &&
              moved->set_tensor(operation.field_index("rstd"), AnyView()).ok());
  ASSERT_TRUE(place("y", memory.data() + 4096 - 64, {4, 4}));
  EXPECT_EQ(run_packet(*client), "");
  ASSERT_TRUE(place("y", memory.data() + 4096 - 48, {4, 4}));
  found = run_packet(*client);
  EXPECT_NE(found.find("field y: expected memory that was mapped in one piece"), std::string::npos) << found;
  // Memory that may be read, and is an output.
  ASSERT_TRUE(place("y", memory.data() + 1024, {4, 4}));
  ASSERT_TRUE(client->unmap(memory.data()).ok());
  EXPECT_NE(run_packet(*client), "");
  ASSERT_TRUE(client->map(memory, false).ok());
  found = run_packet(*client);
  EXPECT_NE(found.find("expected memory that may be written"), std::string::npos) << found;
}

TEST_F(Accelerator, RefusesContractsThatItDoesNotKnow) {
  const std::span<std::byte> room = queue->arguments(64);
  queue->dispatch(42, room);
  const std::string found = text_of_failure(queue->wait());
  EXPECT_NE(found.find("expected a contract that this accelerator knows"), std::string::npos) << found;
}

#if !defined(INGOT_SANITIZED)  // whose allocator ends a process that has no more memory
// What a list has is not taken from it for one who asks for more than there is.
TEST_F(Accelerator, RunsListsOnWhereThereIsNoScratchForAnother) {
  const Operation& small = *find_operation("attention.decode");
  const Operation& large = *find_operation("attention.prefill");
  SharedCall listed(*device, small, first_case(small));
  constexpr int large_case = 15;  // some 400 KB, beyond what a heap keeps
  SharedCall refused(*device, large, large_case);
  ASSERT_TRUE(queue->begin_recording().ok());
  ASSERT_TRUE(AcceleratedCalls(*queue).put(small, *listed.there).ok());
  const auto recorded = queue->end_recording();
  ASSERT_TRUE(recorded.ok()) << recorded.error().text();
  std::uint64_t limited = 0;
  for (const pid_t worker : children_of(broker.process())) {
    std::uint64_t pages = 0;
    std::ifstream("/proc/" + std::to_string(worker) + "/statm") >> pages;
    const rlimit limit = {(pages << 12) + (64 << 10), RLIM_INFINITY};
    limited += ::prlimit(worker, RLIMIT_AS, &limit, nullptr) == 0 ? 1u : 0u;
  }
  ASSERT_GE(limited, 1u);
  const std::string found = text_of_failure(run(large, *refused.there));
  EXPECT_NE(found.find("bytes of scratch, found none"), std::string::npos) << found;
  queue->replay(*recorded.value());
  ASSERT_EQ(text_of_failure(queue->wait()), "");
  run_here(small, *listed.here);
  expect_equal_bits(small, listed);
}
#endif

TEST_F(Accelerator, ForgetsListsWhoseMemoryIsGone) {
  const auto client = AcceleratorClient::connect(broker.path()).value();
  const SharedMemory memory = SharedMemory::create(Bytes(8192), "test").value();
  ASSERT_TRUE(client->map(memory).ok());
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(memory.data());
  const auto fill = vendor_packet(VendorCode::fill, {address + 4096, 16, 7, 0}, 0);
  std::memcpy(memory.data(), &fill, sizeof fill);
  const auto execute = vendor_packet(VendorCode::execute_list, {1, 0, 0, 0}, 0);
  ASSERT_TRUE(client->call(vendor_packet(VendorCode::record_list, {1, address, 1, 0}, 0)).ok());
  ASSERT_TRUE(client->call(execute).ok());
  EXPECT_EQ(memory.data()[4096 + 15], std::byte{7});
  ASSERT_TRUE(client->unmap(memory.data()).ok());
  const auto done = client->call(execute);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), ErrorCode::not_found);
}

TEST_F(Accelerator, CopiesInTheOrderOfItsWork) {
  const DeviceMemory memory = device->allocate(256).value();
  const PinnedMemory pinned = device->allocate_pinned(256).value();
  const Operation& operation = *find_operation("norm.rms_norm");
  SharedCall call(*device, operation, first_case(operation));
  ASSERT_TRUE(AcceleratedCalls(*queue).put(operation, *call.there).ok());
  queue->fill(memory.data(), 3, 256);
  queue->copy_out(pinned.data(), memory.data(), 256);
  std::array<std::byte, 256> foreign{};
  queue->copy_out(foreign.data(), memory.data(), 256);
  ASSERT_EQ(text_of_failure(queue->wait()), "");
  EXPECT_EQ(pinned.data()[255], std::byte{3});
  EXPECT_EQ(foreign[255], std::byte{3});
}

TEST_F(Accelerator, FillsTheRingOverAndOver) {
  const DeviceMemory memory = device->allocate(64).value();
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(memory.data());
  const auto client = AcceleratorClient::connect(broker.path()).value();
  const SharedMemory own = SharedMemory::create(Bytes(4096), "test").value();
  ASSERT_TRUE(client->map(own).ok());
  static_cast<void>(address);
  const std::uint64_t own_address = reinterpret_cast<std::uintptr_t>(own.data());
  for (std::uint64_t i = 0; i < 5 * accelerator::command_count; ++i) {
    const auto packet = vendor_packet(VendorCode::fill, {own_address, 8, i % 251, 0}, 0);
    ASSERT_TRUE(client->submit(packet, AcceleratorClient::Answered::on_failure).ok());
  }
  ASSERT_TRUE(client->call(accelerator::barrier_packet(0)).ok());
  EXPECT_EQ(own.data()[0], static_cast<std::byte>((5 * accelerator::command_count - 1) % 251));
  EXPECT_TRUE(client->is_idle());
}

}  // namespace
}  // namespace ingot
