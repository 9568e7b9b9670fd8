// A client that keeps to nothing: its own worker may end, its neighbour's results and the broker stay as they are.
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cstring>
#include <random>

#include "accelerator/broker_fixture.h"
#include "accelerator/fake_machine.h"
#include "kernels/contract/call_arguments.h"
#include "kernels/contract/case_builder.h"

namespace ingot {
namespace {

using accelerator::MemoryCode;
using accelerator::Packet;
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

std::uint64_t sum_of(const std::vector<accelerator::MemoryPiece>& table, std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, table.size()); ++i) sum += table[i].bytes;
  return sum;
}

class HostileClient : public WithBroker {};

TEST_F(HostileClient, WhoseIndicesCannotBeEndsItsWorker) {
  Neighbour neighbour(broker.path());
  for (const bool is_owner : {false, true}) {
    const RawClient client(broker.path());
    const std::uint64_t write = is_owner ? ~std::uint64_t{0} : accelerator::command_count + 1;
    (is_owner ? client.words().owner().memory_write : client.words().doorbell().command_write)
        .store(write, MemoryOrder::release);
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

// A worker that cannot begin leaves its reason in the rings; whoever says it in its place says it to the broker.
TEST(HostileWords, OfAClientAreMadeHarmlessBeforeTheBrokerTellsThem) {
  RunningBroker running;
  accelerator::Answer answer;
  const std::string_view text = "\x1b]0;mine\x07 \xff\xfe\x9b 2J";
  std::copy(text.begin(), text.end(), answer.text.begin());
  answer.text_length = 10'000;
  answer.status = accelerator::AnswerStatus::failed;
  // The worker says once what it found; who goes on saying something else has the last word, most of the time.
  for (int round = 0; round < 12; ++round) {
    const RawClient client(running.path());
    client.words().slot<accelerator::Answer>(accelerator::at::answers, 0).store(answer);
    client.words().doorbell().command_write.store(~std::uint64_t{0}, MemoryOrder::release);
    client.ring();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (client.words().broker().worker_is_gone.load(MemoryOrder::acquire) == 0) {
      client.words().worker().state.store(accelerator::WorkerState::unable, MemoryOrder::release);
      ASSERT_LT(std::chrono::steady_clock::now(), until);
    }
  }
  EXPECT_EQ(running.end(SIGTERM), 0);
}

int open_descriptors() {
  const std::filesystem::directory_iterator listed("/proc/self/fd");
  return static_cast<int>(std::distance(begin(listed), end(listed)));
}

// The second one has no room, and is closed at once.
TEST(HostileWords, WithTwoDescriptorsLeaveNoneBehind) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const Descriptor here(ends[0]), there(ends[1]);
  const int before = open_descriptors();
  std::byte any{1};
  iovec piece = {&any, 1};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  std::memcpy(CMSG_DATA(header), ends.data(), 2 * sizeof(int));
  ASSERT_EQ(::sendmsg(here.get(), &message, 0), 1);
  EXPECT_TRUE(take_over(there.get()).ok());
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(HostileClient, WhoHandsOverWhatIsNoMemoryIsRefused) {
  const RawClient by_hand(broker.path());
  const auto map_with = [](std::uint32_t rights) {
    return accelerator::memory_packet(MemoryCode::map, {0x100000, 4096, 0, 0}, 0, rights);
  };
  EXPECT_NE(text_of(by_hand.order(map_with(0))), "");  // nothing was handed over
  const Descriptor no_memory(::eventfd(0, 0));
  for (const std::uint32_t rights : {0u, accelerator::right_write}) {
    ASSERT_TRUE(hand_over(by_hand.socket.get(), no_memory.get()).ok());
    const std::string_view expected = rights == 0 ? "expected a memory of at least 4096 bytes" : "expected a memfd";
    EXPECT_NE(text_of(by_hand.order(map_with(rights))).find(expected), std::string::npos);
  }
  // An order that cannot be takes its memory along: the next one must not get it.
  const SharedMemory wrong = SharedMemory::create(Bytes(4096), "test").value();
  ASSERT_TRUE(hand_over(by_hand.socket.get(), wrong.descriptor()).ok());
  EXPECT_NE(text_of(by_hand.order(accelerator::memory_packet(MemoryCode::map, {0x100000, 100, 0, 0}, 0))), "");
  EXPECT_NE(text_of(by_hand.order(map_with(0))), "");
  const auto client = AcceleratorClient::connect(broker.path()).value();
  const SharedMemory memory = SharedMemory::create(Bytes(4096), "test").value();
  ASSERT_TRUE(client->map(memory).ok());
  const auto twice = client->map(memory);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().text().find("mapped already"), std::string_view::npos);
}

// A kernel that was taken over: its own worker may refuse and end, and nobody else's.
TEST_F(HostileClient, WhoseOrdersAreRandomHarmsNobodyElse) {
  Neighbour neighbour(broker.path());
  std::mt19937_64 random(23);
  int done = 0, refused = 0;
  for (int life = 0; life < 6; ++life) {
    FakeMachine machine(broker.path());
    if (life > 0) {
      ASSERT_EQ(machine.begin(), "");
    }
    const FakeMemory& memory = machine.memory();
    const auto any_page = [&] { return random() % (96 << 8) * FakeMemory::page; };
    for (int order = 0; order < 300; ++order) {
      std::vector<accelerator::MemoryPiece> table(16);
      std::uint64_t bytes = 0;
      for (accelerator::MemoryPiece& piece : table) {
        piece = {any_page() % (4 << 20), (1 + random() % 4) * FakeMemory::page};
        if (random() % 64 == 0) piece = {random(), random()};
        bytes += piece.bytes;
      }
      memory.write(0, table);
      memory.write_nonce(any_page() % (4 << 20), 5);
      const std::array<std::uint64_t, 4> operands = {any_page(), random() % 2 == 0 ? bytes : any_page(),
                                                     random() % 2 == 0 ? 0 : any_page(), random() % 17};
      accelerator::VendorPacket packet =
          accelerator::memory_packet(static_cast<MemoryCode>(random() % 7), operands, 1, random() % 2 == 0);
      if (random() % 4 == 0) {
        packet = accelerator::memory_packet(MemoryCode::unmap, {operands[0], 0, 0, 0}, 1);
      } else if (packet.code == static_cast<std::uint16_t>(MemoryCode::map_pieces)) {
        if (random() % 4 != 0) packet.operands[2] = 0;
        packet.operands[3] = random() % 4 == 0 ? operands[3] : 1 + random() % 3;
        if (random() % 4 != 0) packet.operands[1] = sum_of(table, packet.operands[3]);
      }
      text_of(machine.client().order(packet)).empty() ? ++done : ++refused;
      machine.client().words().doorbell().command_write.store(static_cast<std::uint64_t>(order), MemoryOrder::release);
    }
    neighbour.look();
  }
  std::printf("%d orders done, %d refused\n", done, refused);
  EXPECT_GT(done, 50);
  EXPECT_GT(refused, 100);
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
