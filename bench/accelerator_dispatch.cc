// What a packet to an accelerator costs, against the least that two processes can do over the same memory: one word
// there, one word back. In one run, in turns, so that a machine that slows down slows both.
//
//   bench_accelerator_dispatch SOCKET [ROUNDS]
//
// Polled: both sides look at memory all the time. By eventfd: whoever waits sleeps, and is woken. Empty: a barrier
// packet, decoded and answered. Contract: norm.rms_norm of one row of 64 numbers, checked, chosen and computed. List: a
// hundred of them, recorded once. Copy: 256 MiB by a packet, against memcpy here.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels/contract/accelerated_call.h"
#include "kernels/norm/rms_norm.h"
#include "machine/accelerator/accelerator_queue.h"

using namespace ingot;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int batch = 200;  // of calls between two looks at the clock

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// Microseconds that one call takes.
template <class Call>
double time_of(const Call& call, int calls = batch) {
  const Clock::time_point began = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  return std::chrono::duration<double, std::micro>(Clock::now() - began).count() / calls;
}

// The same of calls between which this side sleeps so long that the other one does.
template <class Call>
double time_after_sleep(const Call& call) {
  std::vector<double> times;
  for (int i = 0; i < batch / 10; ++i) {
    ::usleep(500);
    times.push_back(time_of(call, 1));
  }
  return median(times);
}

struct Words {
  alignas(128) Atomic<std::uint64_t> there;
  alignas(128) Atomic<std::uint64_t> back;
};

// The other side of the bare game, in a process of its own.
class PingPong {
 public:
  explicit PingPong(bool by_bells)
      : memory_(SharedMemory::create(Bytes(4096), "ping-pong").value()),
        words_(*reinterpret_cast<Words*>(memory_.data())),
        by_bells_(by_bells),
        there_(::eventfd(0, 0)),
        back_(::eventfd(0, 0)) {
    peer_ = ::fork();
    if (peer_ == 0) play();
  }
  PingPong(const PingPong&) = delete;
  PingPong& operator=(const PingPong&) = delete;
  ~PingPong() {
    ::kill(peer_, SIGKILL);
    ::waitpid(peer_, nullptr, 0);
  }
  void round() {
    words_.there.store(++turn_, MemoryOrder::release);
    if (by_bells_) {
      ring(there_);
      hear(back_);
    }
    while (words_.back.load(MemoryOrder::acquire) != turn_) {
    }
  }

 private:
  [[noreturn]] void play() {
    for (std::uint64_t turn = 1;; ++turn) {
      if (by_bells_) hear(there_);
      while (words_.there.load(MemoryOrder::acquire) != turn) {
      }
      words_.back.store(turn, MemoryOrder::release);
      if (by_bells_) ring(back_);
    }
  }
  static void ring(const Descriptor& bell) {
    const std::uint64_t once = 1;
    if (::write(bell.get(), &once, sizeof once) < 0) std::abort();
  }
  static void hear(const Descriptor& bell) {
    std::uint64_t rung = 0;
    if (::read(bell.get(), &rung, sizeof rung) < 0) std::abort();
  }

  SharedMemory memory_;
  Words& words_;
  bool by_bells_;
  Descriptor there_, back_;
  std::uint64_t turn_ = 0;
  pid_t peer_ = -1;
};

Result<void> require_done(const Result<PacketTimes>& done) {
  if (!done.ok()) return done.error();
  return {};
}

Result<void> measure(const std::string& path, int rounds) {
  const auto client = TRY(AcceleratorClient::connect(path));
  SharedHeap heap(*client);
  const auto queue = TRY(AcceleratorQueue::create(*client, heap));
  AcceleratedCalls calls(*queue);
  const Operation& operation = describe_operation<RmsNorm>();

  std::byte* const memory = TRY(heap.allocate(4096));
  auto* const floats = reinterpret_cast<float*>(memory);
  std::fill(floats, floats + 128, 1.0f);
  const std::unique_ptr<Invocation> call = operation.empty();
  TRY(call->set_tensor(operation.field_index("x"), AnyView(memory, DType::f32, {1, 64})));
  TRY(call->set_tensor(operation.field_index("gamma"), AnyView(memory + 256, DType::f32, {64})));
  TRY(call->set_tensor(operation.field_index("y"), AnyView(memory + 512, DType::f32, {1, 64})));
  TRY(queue->begin_recording());
  for (int i = 0; i < 100; ++i) TRY(calls.put(operation, *call));
  const std::unique_ptr<Recording> list = TRY(queue->end_recording());

  PingPong polled(false), by_bells(true);
  Result<void> failure;
  std::vector<double> bare, empty, bare_bells, empty_bells, contract, listed;
  for (int round = 0; round < rounds; ++round) {
    bare.push_back(time_of([&] { polled.round(); }));
    empty.push_back(time_of([&] {
      const Result<void> done = require_done(client->call(accelerator::barrier_packet(0)));
      if (!done.ok()) failure = done.error();
    }));
    contract.push_back(time_of([&] {
      if (!calls.put(operation, *call).ok() || !queue->wait().ok()) std::abort();
    }));
    listed.push_back(time_of(
        [&] {
          queue->replay(*list);
          if (!queue->wait().ok()) std::abort();
        },
        batch / 10));
    bare_bells.push_back(time_after_sleep([&] { by_bells.round(); }));
    empty_bells.push_back(time_after_sleep([&] {
      const Result<void> done = require_done(client->call(accelerator::barrier_packet(0)));
      if (!done.ok()) failure = done.error();
    }));
  }
  TRY(failure);
  const double bare_time = median(bare), empty_time = median(empty);
  std::printf("polled ping-pong                %8.2f us\n", bare_time);
  std::printf("empty packet, polled            %8.2f us  %.2f of the ping-pong\n", empty_time, empty_time / bare_time);
  std::printf("norm.rms_norm [1, 64]           %8.2f us\n", median(contract));
  std::printf("list of 100 of them             %8.2f us\n", median(listed));
  std::printf("ping-pong by eventfd, asleep    %8.2f us\n", median(bare_bells));
  std::printf("empty packet, worker asleep     %8.2f us  %.2f of the ping-pong\n", median(empty_bells),
              median(empty_bells) / median(bare_bells));

  constexpr std::size_t copied = std::size_t{256} << 20;
  std::byte* const from = TRY(heap.allocate(copied));
  std::byte* const to = TRY(heap.allocate(copied));
  std::memset(from, 1, copied);
  std::memset(to, 2, copied);
  std::vector<double> here, there;
  for (int round = 0; round < 5; ++round) {
    here.push_back(time_of([&] { std::memcpy(to, from, copied); }, 1));
    there.push_back(time_of(
        [&] {
          queue->replay(*list);  // so that the queue has work, and the copy is a packet
          queue->copy_within(to, from, copied);
          if (!queue->wait().ok()) std::abort();
        },
        1));
  }
  std::printf("copy of 256 MiB                 %8.2f GB/s  %.2f of memcpy here\n", copied / median(there) * 1e-3,
              median(here) / median(there));
  return {};
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 2) {
    std::fprintf(stderr, "usage: bench_accelerator_dispatch SOCKET [ROUNDS]\n");
    return 2;
  }
  const int rounds = argument_count > 2 ? std::max(1, std::atoi(arguments[2])) : 30;
  const Result<void> measured = measure(arguments[1], rounds);
  if (measured.ok()) return 0;
  const std::string text(measured.error().text());
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}
