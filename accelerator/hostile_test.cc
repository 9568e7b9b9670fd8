// A client that keeps to nothing: its own worker may end, its neighbour's results and the broker stay as they are.
#include <cstring>
#include <random>
#include <thread>

#include "accelerator/broker_fixture.h"
#include "kernels/contract/call_arguments.h"
#include "kernels/contract/case_builder.h"
#include "machine/unix_socket.h"

namespace ingot {
namespace {

using accelerator::Packet;
using accelerator::SharedWords;
using accelerator::vendor_packet;
using accelerator::VendorCode;

// A neighbour that adds one byte after the other, and looks.
class Neighbour {
 public:
  explicit Neighbour(const std::string& path)
      : client_(AcceleratorClient::connect(path).value()),
        memory_(SharedMemory::create(Bytes(4096), "neighbour").value()) {
    EXPECT_TRUE(client_->map(memory_).ok());
  }
  void look() {
    ++value_;
    const auto done = client_->call(
        vendor_packet(VendorCode::fill, {reinterpret_cast<std::uintptr_t>(memory_.data()), 4096, value_, 0}, 0));
    ASSERT_TRUE(done.ok()) << done.error().text();
    for (std::size_t i = 0; i < 4096; ++i) ASSERT_EQ(memory_.data()[i], std::byte{value_});
  }

 private:
  std::unique_ptr<AcceleratorClient> client_;
  SharedMemory memory_;
  std::uint8_t value_ = 0;
};

// The rings by hand.
struct RawClient {
  explicit RawClient(const std::string& path) : socket(connect_to_path(path).value()) {
    greeting = receive_greeting(socket.get(), std::chrono::seconds(5)).value();
    rings = SharedMemory::of(std::move(greeting.memory), Bytes(accelerator::shared_bytes)).value();
  }
  SharedWords words() const { return SharedWords(rings.data()); }
  void ring() const {
    const std::uint64_t once = 1;
    [[maybe_unused]] const ssize_t count = ::write(greeting.worker_bell.get(), &once, sizeof once);
  }
  bool is_left_within(std::chrono::seconds limit) const {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < until) {
      if (is_left(socket.get())) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }
  Descriptor socket;
  Greeting greeting;
  SharedMemory rings;
};

class HostileClient : public WithBroker {};

TEST_F(HostileClient, WhoseIndicesCannotBeEndsItsWorker) {
  Neighbour neighbour(broker.path());
  for (const std::uint64_t write : {accelerator::command_count + 1, ~std::uint64_t{0}}) {
    const RawClient client(broker.path());
    client.words().doorbell().command_write.store(write, MemoryOrder::release);
    client.ring();
    EXPECT_TRUE(client.is_left_within(std::chrono::seconds(5)));
    EXPECT_EQ(client.words().worker().state.load(MemoryOrder::acquire), accelerator::WorkerState::misled);
    neighbour.look();
  }
}

TEST_F(HostileClient, WhoWritesEverywhereInItsRingsHarmsNobodyElse) {
  Neighbour neighbour(broker.path());
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    const RawClient client(broker.path());
    for (int word = 0; word < 20000; ++word) {
      const std::size_t at = random() % (accelerator::shared_bytes / 8) * 8;
      const std::uint64_t value = random() % 3 == 0 ? random() % 64 : random();
      // The identity's page is the broker's, read once by clients; all others may be anything.
      std::memcpy(client.rings.data() + at, &value, sizeof value);
    }
    client.ring();
    neighbour.look();
  }
}

TEST_F(HostileClient, WhoHandsOverWhatIsNoMemoryIsRefused) {
  const auto client = AcceleratorClient::connect(broker.path()).value();
  const Packet map = vendor_packet(VendorCode::map, {0x100000, 4096, 0, 0}, 0);
  EXPECT_FALSE(client->call(map).ok());  // nothing was handed over
  const SharedMemory memory = SharedMemory::create(Bytes(4096), "test").value();
  ASSERT_TRUE(client->map(memory).ok());
  const auto twice = client->map(memory);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().text().find("mapped already"), std::string_view::npos);
}

// Packets that are nearly right, and arguments that are: whatever is let through is run.
TEST_F(HostileClient, WhosePacketsAndArgumentsAreRandomHarmsNobodyElse) {
  Neighbour neighbour(broker.path());
  std::mt19937_64 random(5);
  const std::span<const Operation* const> operations = all_operations();
  int done = 0, refused = 0, lost = 0;
  for (int life = 0; life < 12; ++life) {
    auto client = AcceleratorClient::connect(broker.path()).value();
    const SharedMemory memory = SharedMemory::create(Bytes(1 << 20), "hostile").value();
    ASSERT_TRUE(client->map(memory).ok());
    for (std::size_t at = 0; at < memory.size(); at += 8) {
      const std::uint64_t value = random() & 0x3f0000003f;  // small integers, small floats
      std::memcpy(memory.data() + at, &value, sizeof value);
    }
    for (int packet_number = 0; packet_number < 200; ++packet_number) {
      const Operation& operation = *operations[random() % operations.size()];
      const int case_index = static_cast<int>(random() % operation.cases.size());
      if (operation.cases[static_cast<std::size_t>(case_index)].purpose == CasePurpose::benchmark) continue;
      CaseBuilder builder(random(), Regime::ordinary, LayoutStyle::packed, 0xa5);
      const std::unique_ptr<Invocation> call = operation.build(case_index, builder);
      std::byte* const block = memory.data() + (1 << 19);
      const std::size_t bytes = call_bytes(operation);
      ASSERT_TRUE(encode_call(operation, *call, {block, bytes}).ok());
      for (std::size_t field = 0; field < operation.fields.size(); ++field) {
        auto* record = reinterpret_cast<accelerator::ArgumentRecord*>(block + accelerator::block_bytes_of(field));
        if (record->kind == accelerator::ArgumentKind::tensor) {
          record->value = reinterpret_cast<std::uintptr_t>(memory.data()) + random() % (1 << 18) / 64 * 64;
        }
      }
      for (std::uint64_t change = random() % 3; change > 0; --change) {
        const std::uint64_t at = random() % (bytes / 8) * 8;
        const std::uint64_t value = random() % 4 == 0 ? random() : random() % 70;
        std::memcpy(block + at, &value, sizeof value);
      }
      Packet packet =
          accelerator::dispatch_packet(contract_digest(operation), reinterpret_cast<std::uintptr_t>(block), 0);
      if (random() % 4 == 0) {
        auto bits = std::bit_cast<std::array<std::uint64_t, 8>>(packet);
        bits[random() % 8] ^= std::uint64_t{1} << (random() % 64);
        packet = std::bit_cast<Packet>(bits);
      }
      const auto answered = client->call(packet);
      answered.ok() ? ++done : ++refused;
      if (!answered.ok() && answered.error().text().find("the accelerator's worker") != std::string_view::npos) {
        ++lost;
        break;
      }
    }
    neighbour.look();
  }
  std::printf("%d packets done, %d refused, %d workers lost\n", done, refused, lost);
  EXPECT_GT(done, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace ingot
