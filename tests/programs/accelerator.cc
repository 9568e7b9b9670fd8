// A program that is granted an accelerator: it shows the worker its memory, has it filled and copied, and looks at
// every byte; and what it must not do is refused. tests/boot/accelerator_test.py boots it, beside a broker.
//
//   work     all of that, twice: the node is opened anew
//   lose     says "waiting", waits until the worker is lost, and says how the node tells of it
//   hold     says "holding" with memory shown, and never lets go of it
//   scribble writes at random into all that it sees of the rings, and into no other memory
//   race     hides memory that packets under way name, and looks whether they touch what comes to lie in its frames
// program-test: elsewhere
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/accelerator/node.h"
#include "base/accelerator/rings.h"
#include "tests/programs/report.h"

namespace {

using namespace ingot::accelerator;

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t second = 1'000'000'000;

class Node {
 public:
  Node() : file_(open(node_path, O_RDWR | O_CLOEXEC)) {
    CHECK(file_ >= 0);
    rings_ = mmap(nullptr, client_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    CHECK(rings_ != MAP_FAILED);
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() { CHECK(munmap(rings_, client_bytes) == 0 && close(file_) == 0); }

  int file() const { return file_; }
  SharedWords words() const { return SharedWords(static_cast<std::byte*>(rings_)); }

  int show(const void* begin, std::uint64_t bytes, std::uint32_t flags = right_write) const {
    const NodeMap wanted{reinterpret_cast<std::uintptr_t>(begin), bytes, flags, 0};
    return ioctl(file_, node_map, &wanted);
  }
  int hide(const void* begin) const {
    const NodeUnmap wanted{reinterpret_cast<std::uintptr_t>(begin)};
    return ioctl(file_, node_unmap, &wanted);
  }
  int wait(std::uint64_t nanoseconds) const {
    const NodeWait wanted{nanoseconds};
    return ioctl(file_, node_wait, &wanted);
  }

 private:
  int file_;
  void* rings_ = MAP_FAILED;
};

// Gives packets and waits for their answers, as a client does.
class Queue {
 public:
  explicit Queue(const Node& node)
      : node_(node), commands_(command_writer(node.words())), answers_(answer_reader(node.words())) {}

  Answer run(const Packet& packet) {
    commands_.push(packet);
    CHECK(ioctl(node_.file(), node_ring, 0) == 0);
    while (answers_.waiting().value() == 0) CHECK(node_.wait(10 * second) == 1);
    return answers_.take();
  }
  void must_do(VendorCode code, std::uint64_t first, std::uint64_t second_operand, std::uint64_t third) {
    const Answer answer = run(vendor_packet(code, {first, second_operand, third, 0}, ++tag_));
    if (answer.status != AnswerStatus::done)
      std::printf("refused: %.*s\n", static_cast<int>(answer.text_length), answer.text.data());
    CHECK(answer.tag == tag_ && answer.status == AnswerStatus::done);
  }
  void must_refuse(const Packet& packet, std::string_view reason) {
    const Answer answer = run(packet);
    const std::string_view text(answer.text.data(), answer.text_length);
    if (text.find(reason) == text.npos) std::printf("found '%.*s'\n", static_cast<int>(text.size()), text.data());
    CHECK(answer.status == AnswerStatus::failed && text.find(reason) != text.npos);
  }

 private:
  const Node& node_;
  CommandWriter commands_;
  AnswerReader answers_;
  std::uint64_t tag_ = 100;
};

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::byte* pages(std::uint64_t bytes) {
  void* begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(begin != MAP_FAILED);
  return static_cast<std::byte*>(begin);
}

bool all_are(const std::byte* begin, std::uint64_t bytes, std::byte value) {
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (begin[i] != value) return false;
  }
  return true;
}

// Every third page is touched before, so that its frames lie where they like.
void compute(const Node& node) {
  Queue queue(node);
  constexpr std::uint64_t bytes = 5 * mib;
  std::byte* const one = pages(bytes);
  std::byte* const other = pages(bytes);
  for (std::uint64_t at = 0; at < bytes; at += 3 * 4096) one[at] = std::byte{1};
  for (std::uint64_t at = 0; at < bytes; ++at) other[at] = static_cast<std::byte>(at * 7 + at / 4096);
  CHECK(node.show(one, bytes) == 0);
  CHECK(node.show(other, bytes, 0) == 0);
  queue.must_do(VendorCode::fill, address_of(one), bytes, 0x5a);
  CHECK(all_are(one, bytes, std::byte{0x5a}));
  queue.must_do(VendorCode::copy, address_of(one + 1), address_of(other), bytes - 1);
  CHECK(one[0] == std::byte{0x5a} && std::memcmp(one + 1, other, bytes - 1) == 0);
  std::printf("accelerator: %llu bytes were filled and copied\n", static_cast<unsigned long long>(bytes));
  // What the program writes now, the worker reads: it is the same memory.
  other[77] = std::byte{0xee};
  queue.must_do(VendorCode::copy, address_of(one), address_of(other), 4096);
  CHECK(one[77] == std::byte{0xee});

  queue.must_refuse(vendor_packet(VendorCode::fill, {address_of(other), 1, 0, 0}, 1), "may be written");
  queue.must_refuse(vendor_packet(VendorCode::fill, {address_of(one) + bytes, 1, 0, 0}, 1), "mapped");
  queue.must_refuse(dispatch_packet(42, address_of(one), 1), "contract");

  // What it lets go, the worker has until it is hidden, and nobody else.
  CHECK(munmap(one, 2 * mib) == 0);
  queue.must_do(VendorCode::fill, address_of(one), bytes, 0x11);
  CHECK(all_are(one + 2 * mib, bytes - 2 * mib, std::byte{0x11}));
  CHECK(node.hide(one) == 0 && node.hide(other) == 0);
  queue.must_refuse(vendor_packet(VendorCode::fill, {address_of(one) + 4 * mib, 1, 0, 0}, 1), "mapped");
  CHECK(munmap(one + 2 * mib, bytes - 2 * mib) == 0 && munmap(other, bytes) == 0);
}

void be_refused(const Node& node) {
  CHECK(open(node_path, O_RDWR) < 0 && errno == EBUSY);
  CHECK(open(node_path, O_RDONLY) < 0 && errno == EACCES);
  CHECK(mmap(nullptr, shared_bytes, PROT_READ, MAP_SHARED, node.file(), 0) == MAP_FAILED && errno == EINVAL);
  CHECK(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, node.file(), client_bytes) == MAP_FAILED && errno == EINVAL);
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, node.file(), 0) == MAP_FAILED && errno == EACCES);
  std::byte* const some = pages(4 * 4096);
  CHECK(node.show(some + 1, 4096) < 0 && errno == EINVAL);
  CHECK(node.show(some, 4096, 2) < 0 && errno == EINVAL);
  CHECK(node.show(some, 0) < 0 && errno == EINVAL);
  CHECK(mprotect(some, 4096, PROT_READ) == 0);
  CHECK(node.show(some, 4096) < 0 && errno == EFAULT);  // it may not write there itself
  CHECK(munmap(some + 4096, 4096) == 0);
  CHECK(node.show(some, 4 * 4096, 0) < 0 && errno == EFAULT);                                            // a hole
  CHECK(node.show(static_cast<const void*>(&node.words().identity()), 4096, 0) < 0 && errno == EFAULT);  // the rings
  CHECK(node.show(some + 2 * 4096, 2 * 4096) == 0);
  CHECK(node.show(some + 3 * 4096, 4096) < 0 && errno == EINVAL);  // shown already
  CHECK(node.hide(some) < 0 && errno == EINVAL);
  CHECK(ioctl(node.file(), node_map, nullptr) < 0 && errno == EFAULT);
  CHECK(ioctl(node.file(), 0x4999, nullptr) < 0 && errno == ENOTTY);
  CHECK(node.hide(some + 2 * 4096) == 0 && munmap(some, 4 * 4096) == 0);
}

// An answer is seen before its interrupt comes, so some of the node's former opener may be on their way.
void wait_for_nothing(const Node& node) {
  auto begin = std::chrono::steady_clock::now();
  int told = 1;
  for (int wait = 0; wait < 40 && told == 1; ++wait) {
    begin = std::chrono::steady_clock::now();
    told = node.wait(second / 4);
  }
  CHECK(told == 0);
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(250));
  pollfd polled{node.file(), POLLIN, 0};
  CHECK(poll(&polled, 1, 0) == 0);
}

int work() {
  const std::uint64_t frames = counter("frames-free");
  for (int round = 0; round < 2; ++round) {
    Node node;
    const Identity& identity = node.words().identity();
    CHECK(identity.magic == magic && identity.version == protocol_version);
    wait_for_nothing(node);
    be_refused(node);
    compute(node);
    // Memory that is shown when the node goes is let go with it.
    std::byte* const left = pages(8 * mib);
    CHECK(node.show(left, 8 * mib) == 0);
    CHECK(munmap(left, 8 * mib) == 0);
  }
  // What it took has come back, but for what a program's library and the kernel keep for the next time.
  const std::uint64_t now = counter("frames-free");
  CHECK(now + 4 * mib / 4096 > frames);
  std::printf("accelerator: works, and gives back\n");
  return 0;
}

int lose() {
  Node node;
  std::byte* const some = pages(mib);
  CHECK(node.show(some, mib) == 0);
  std::printf("waiting\n");
  std::fflush(stdout);
  int told = 0;
  while ((told = node.wait(60 * second)) == 1) {
  }
  CHECK(told < 0 && errno == EIO);
  CHECK(node.show(some, 4096) < 0 && errno == EIO);
  CHECK(node.hide(some) < 0 && errno == EIO);
  pollfd polled{node.file(), POLLIN, 0};
  CHECK(poll(&polled, 1, 0) == 1 && (polled.revents & POLLERR) != 0);
  std::printf("lost\n");
  std::fflush(stdout);
  CHECK(close(node.file()) == 0);
  CHECK(open(node_path, O_RDWR) < 0 && errno == ENXIO);
  _exit(3);
}

// A packet is done before its memory is hidden, or refused behind it: never in between, and never in another's frames.
int race(int rounds) {
  constexpr std::uint64_t bytes = 64 * 4096;
  Node node;
  CommandWriter commands = command_writer(node.words());
  AnswerReader answers = answer_reader(node.words());
  std::uint64_t given = 0, refused = 0;
  for (int round = 0; round < rounds; ++round) {
    std::byte* const shown = pages(bytes);
    shown[round % bytes] = std::byte{1};
    CHECK(node.show(shown, bytes) == 0);
    constexpr std::uint64_t packets = 32;
    std::uint64_t answered = 0;
    for (std::uint64_t packet = 0; packet < packets; ++packet) {
      commands.push(vendor_packet(VendorCode::fill, {address_of(shown), bytes, 0xee, 0}, ++given));
      if (packet == 0) CHECK(ioctl(node.file(), node_ring, 0) == 0);
    }
    const auto take_up_to = [&](std::uint64_t count) {
      for (; answered < count; ++answered) {
        while (answers.waiting().value() == 0) CHECK(node.wait(10 * second) == 1);
        refused += answers.take().status == AnswerStatus::failed ? 1 : 0;
      }
    };
    take_up_to(static_cast<std::uint64_t>(round) % 4);  // the worker is at it
    // Now and then the program lets go first, or takes its own right to write.
    if (round % 3 == 0) CHECK(mprotect(shown, bytes, PROT_READ) == 0);
    if (round % 3 == 1) CHECK(munmap(shown, bytes) == 0);
    CHECK(node.hide(shown) == 0);
    if (round % 3 != 1) CHECK(munmap(shown, bytes) == 0);
    std::byte* const next = pages(bytes);
    std::memset(next, 0x77, bytes);
    CHECK(ioctl(node.file(), node_ring, 0) == 0);
    take_up_to(packets);
    CHECK(all_are(next, bytes, std::byte{0x77}));
    CHECK(munmap(next, bytes) == 0);
  }
  std::printf("accelerator: %d races, %llu of %llu packets refused\n", rounds, static_cast<unsigned long long>(refused),
              static_cast<unsigned long long>(given));
  return 0;
}

// The kernel believes nothing of this half, and goes on whatever the worker makes of it.
int scribble() {
  std::uint64_t state = 88172645463325252;
  const auto random = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  };
  Node node;
  std::byte* const some = pages(mib);
  CHECK(node.show(some, mib / 2) == 0);
  std::byte* const rings = reinterpret_cast<std::byte*>(&node.words().identity());
  std::uint64_t rounds = 0;
  for (; rounds < 2000; ++rounds) {
    for (int word = 0; word < 64; ++word) {
      const std::uint64_t value = random() % 4 == 0 ? address_of(some) + random() % mib : random() >> random() % 64;
      std::memcpy(rings + random() % client_bytes / 8 * 8, &value, sizeof value);
    }
    CHECK(ioctl(node.file(), node_ring, 0) == 0);
    if (node.wait(1000) < 0 && errno == EIO) break;
    if (rounds % 16 == 0 && node.show(some + mib / 2, mib / 2) == 0) static_cast<void>(node.hide(some + mib / 2));
  }
  std::printf("accelerator: scribbled\n");
  return 0;
}

int hold() {
  static const Node node;
  CHECK(node.show(pages(mib), mib) == 0);
  std::printf("holding\n");
  std::fflush(stdout);
  while (true) pause();
}

}  // namespace

int main(int count, char** words) {
  const std::string_view word = count > 1 ? words[1] : "work";
  if (word == "work") return work();
  if (word == "lose") return lose();
  if (word == "hold") return hold();
  if (word == "scribble") return scribble();
  if (word == "race" && count > 2) return race(std::atoi(words[2]));
  std::printf("expected work, lose, hold, scribble or race ROUNDS\n");
  return 2;
}
