#include "accelerator/worker.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "accelerator/confinement.h"
#include "accelerator/executor.h"
#include "accelerator/fault_report.h"
#include "accelerator/memory_orders.h"
#include "accelerator/worker_state.h"
#include "base/accelerator/rings.h"
#include "machine/accelerator/patience.h"
#include "machine/limits.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;
using accelerator::Answer;
using accelerator::AnswerStatus;
using accelerator::AnswerWriter;
using accelerator::Command;
using accelerator::SharedWords;
using accelerator::WorkerState;
using accelerator::WorkerWords;

// A client that takes an answer and gives the next packet is back within it.
constexpr std::chrono::microseconds longest_look{100};
constexpr int beat_milliseconds = 100;
constexpr int settling_milliseconds = 1;  // until stores of a client without fences lie open: base/accelerator/wake.h

std::uint64_t now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

void ring(int bell) {
  const std::uint64_t once = 1;
  // It may be full: then the other side has been rung for long.
  [[maybe_unused]] const ssize_t count = ::write(bell, &once, sizeof once);
}

[[noreturn]] void end(SharedWords shared, WorkerState state) {
  tell_state(shared, state);
  ::_exit(state == WorkerState::ended ? 0 : 1);
}

// Of an answer of either kind.
template <class AnyAnswer>
void set_failure(AnyAnswer& answer, const Error& error) {
  answer.status = AnswerStatus::failed;
  answer.code = static_cast<std::uint32_t>(error.code());
  const std::string_view text = error.text();
  answer.text_length = static_cast<std::uint32_t>(std::min(text.size(), answer.text.size()));
  std::copy_n(text.begin(), answer.text_length, answer.text.begin());
}

// The thread that beats while others compute, and sees that the client left.
void beat(int socket, SharedWords shared, std::atomic<bool>& has_begun) {
  std::uint64_t beats = 0;
  has_begun.store(true);
  while (true) {
    tell_heartbeat(shared, ++beats);
    pollfd waiting = {socket, POLLRDHUP, 0};
    if (::poll(&waiting, 1, beat_milliseconds) > 0) end(shared, WorkerState::ended);
  }
}

class Worker {
 public:
  Worker(const WorkerPlace& place, Executor executor, ClientMemory& memory)
      : place_(place),
        shared_(place_.rings.data()),
        words_(shared_.worker()),
        executor_(std::move(executor)),
        memory_(memory),
        orders_(memory, executor_),
        owners_packets_(accelerator::memory_reader(shared_)),
        owners_answers_(accelerator::memory_answer_writer(shared_)),
        commands_(accelerator::command_reader(shared_)),
        answers_(accelerator::answer_writer(shared_)),
        patience_(usable_cpu_count() > 1 ? longest_look : std::chrono::microseconds(0)) {}

  [[noreturn]] void run() {
    while (true) {
      if (patience_.wait_for([this] { return has_more(); })) {
        work();
      } else {
        sleep();
      }
    }
  }

 private:
  // What a client says of its rings must be possible; else nothing that it says is worth an answer.
  template <class Value>
  Value believe(const Result<Value>& said) {
    if (!said.ok()) end(shared_, WorkerState::misled);
    return said.value();
  }
  bool has_more() { return believe(owners_packets_.waiting()) > 0 || believe(commands_.waiting()) > 0; }

  bool client_keeps_order() const {
    return shared_.client().promise.load(MemoryOrder::relaxed) == accelerator::Promise::fences;
  }

  void sleep() {
    if (accelerator::may_sleep(words_.sleeps, accelerator::full_fence, [this] { return has_more(); })) {
      if (!client_keeps_order()) await_bell(settling_milliseconds);
      if (!has_more()) await_bell(beat_milliseconds);
    }
    accelerator::wake_up(words_.sleeps);
  }

  void await_bell(int milliseconds) const {
    pollfd waiting = {place_.worker_bell.get(), POLLIN, 0};
    if (::poll(&waiting, 1, milliseconds) <= 0) return;
    std::uint64_t rung = 0;
    [[maybe_unused]] const ssize_t count = ::read(place_.worker_bell.get(), &rung, sizeof rung);
  }

  // One command at most, so that what memory there is changes between any two.
  void work() {
    follow_owner();
    if (believe(commands_.waiting()) == 0) return;
    const std::uint64_t index = commands_.taken();
    const accelerator::Packet packet = commands_.take();
    FaultReport::at_packet(index);
    Answer answer;
    answer.command = index;
    answer.tag = packet.completion;
    answer.began = now();
    const Result<void> done = run_packet(packet);
    answer.ended = now();
    count(answer, done.ok());
    if (!done.ok()) {
      set_failure(answer, done.error());
    }
    if (!done.ok() || packet.completion != 0) give(answer);
  }

  Result<void> run_packet(const accelerator::Packet& packet) {
    const Command command = TRY(accelerator::decode(packet));
    return executor_.run(command);
  }

  void follow_owner() {
    while (believe(owners_packets_.waiting()) > 0) {
      const accelerator::VendorPacket packet = owners_packets_.take();
      accelerator::MemoryAnswer answer;
      answer.tag = packet.completion;
      const Result<std::uint64_t> done = run_order(packet);
      if (done.ok()) {
        answer.value = done.value();
      } else {
        set_failure(answer, done.error());
      }
      words_.mapped_bytes.store(memory_.bytes(), MemoryOrder::relaxed);
      most_mapped_ = std::max(most_mapped_, memory_.bytes());
      words_.most_mapped_bytes.store(most_mapped_, MemoryOrder::relaxed);
      while (believe(owners_answers_.room()) == 0) await_bell(1);
      owners_answers_.push(answer);
      ring(place_.answer_bell.get());
    }
  }

  Result<std::uint64_t> run_order(const accelerator::VendorPacket& packet) {
    const auto take_memory = [this] { return take_over(place_.socket.get()); };
    const Result<accelerator::MemoryCommand> command = accelerator::decode_memory(packet);
    if (command.ok()) return orders_.run(command.value(), take_memory);
    // What was handed over for it is not the next one's.
    if (accelerator::brings_memory(static_cast<accelerator::MemoryCode>(packet.code))) {
      static_cast<void>(take_memory().ok());
    }
    return command.error();
  }

  void count(const Answer& answer, bool is_done) {
    packets_ += 1;
    refusals_ += is_done ? 0 : 1;
    busy_ += answer.ended - answer.began;
    words_.packets.store(packets_, MemoryOrder::relaxed);
    words_.refusals.store(refusals_, MemoryOrder::relaxed);
    words_.busy_nanoseconds.store(busy_, MemoryOrder::relaxed);
    words_.dispatches.store(executor_.counts().dispatches, MemoryOrder::relaxed);
    words_.lists.store(executor_.counts().lists, MemoryOrder::relaxed);
  }

  void give(const Answer& answer) {
    // A client that reads no answers waits for nobody but itself.
    while (believe(answers_.room()) == 0) {
      follow_owner();  // who waits for no client
      await_bell(1);
    }
    answers_.push(answer);
    if (!client_keeps_order() || accelerator::must_ring(shared_.client().sleeps, accelerator::full_fence)) {
      ring(place_.answer_bell.get());
    }
  }

  const WorkerPlace& place_;
  SharedWords shared_;
  WorkerWords& words_;
  Executor executor_;
  const ClientMemory& memory_;
  MemoryOrders orders_;
  accelerator::MemoryReader owners_packets_;
  accelerator::MemoryAnswerWriter owners_answers_;
  accelerator::CommandReader commands_;
  accelerator::AnswerWriter answers_;
  Patience patience_;
  std::uint64_t packets_ = 0;
  std::uint64_t refusals_ = 0;
  std::uint64_t busy_ = 0;
  std::uint64_t most_mapped_ = 0;
};

// What a child has of its broker and should not: signals that it waits for, descriptors, files of its memory.
Result<void> leave_broker(const WorkerPlace& place) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGINT, SIG_IGN);  // of a terminal: the broker is told, and its end is ours
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return refused("end with the broker");
  if (::getppid() != place.broker) ::_exit(1);  // it was gone before we asked
  TRY(keep_only(
      std::array{place.socket.get(), place.worker_bell.get(), place.answer_bell.get(), place.fault_bell.get()}));
  const rlimit few = {16, 16};
  const rlimit none_at_all = {0, 0};
  if (::setrlimit(RLIMIT_NOFILE, &few) != 0 || ::setrlimit(RLIMIT_CORE, &none_at_all) != 0) {
    return refused("limit a worker");
  }
  return {};
}

// A thread that begins asks the system for more than one that runs: each takes a piece, and waits for the others. (That
// one beats is not read off the shared memory, where a client may have written it.)
void wait_for_threads(Workers& workers, const std::atomic<bool>& is_beating) {
  std::atomic<int> begun{0};
  workers.for_chunks(workers.count(), 1, [&](std::int64_t, std::int64_t, int) {
    begun.fetch_add(1);
    while (begun.load() < workers.count()) std::this_thread::yield();
  });
  while (!is_beating.load()) std::this_thread::yield();
}

Result<void> serve(WorkerPlace& place, const WorkerTask& task) {
  TRY(leave_broker(place));
  static ClientMemory memory;  // too large for a stack, and a signal handler's
  const std::unique_ptr<Workers> workers = TRY(Workers::create({.threads = task.threads}));
  Executor executor = TRY(Executor::create(task.operations, task.features, *workers, memory));
  const SharedWords shared(place.rings.data());
  FaultReport::begin(shared, memory, place.fault_bell.get());
  static std::atomic<bool> is_beating{false};  // as long as the thread
  std::thread(beat, place.socket.get(), shared, std::ref(is_beating)).detach();
  Worker worker(place, std::move(executor), memory);
  wait_for_threads(*workers, is_beating);
#ifndef INGOT_SANITIZED  // a sanitizer's runtime asks the system for many a thing, when it reports above all
  TRY(confine({place.answer_bell.get(), place.fault_bell.get()}));
#endif
  tell_state(shared, WorkerState::ready);
  worker.run();
}

}  // namespace

void run_worker(WorkerPlace place, const WorkerTask& task) {
  const SharedWords shared(place.rings.data());
  const Result<void> served = serve(place, task);
  // Standard error is nowhere by now: the client and the broker read it where answers lie.
  AnswerWriter answers = accelerator::answer_writer(shared);
  Answer answer;
  set_failure(answer, served.error());
  answers.push(answer);
  end(shared, WorkerState::unable);
}

}  // namespace ingot
