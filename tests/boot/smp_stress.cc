// Everything at once on all CPUs: storms of threads that are spawned, stolen and joined, whose stacks come and go and
// with them what CPUs remember of pages; heap blocks and frames that are taken on one CPU and freed on another.
//
// boot-test: processors 4
// boot-test: success
// boot-test: expect stress: 8 x 30 threads, sum 3480
// boot-test: expect stress: every byte as it was written
// boot-test: expect ingot: done
#include <array>
#include <optional>

#include "os/boot/kernel.h"
#include "os/schedule/mutex.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

constexpr std::size_t storms = 8;
constexpr int threads_each = 30;

// What one thread leaves for another: it is freed by whoever finds it.
struct Parcel {
  Parcel* next;
  FrameNumber frame;
  std::uint64_t number;
  std::array<std::uint64_t, 20> content;
};
struct Everybody {
  Kernel& kernel;
  Mutex mutex{LockRank::device};
  Parcel* parcels = nullptr;
  std::uint64_t sent = 0, opened = 0;
  Atomic<std::uint64_t> sum{};
};
struct Job {
  Everybody& shared;
  int number;
};

KernelThread require(Result<KernelThread> thread) {
  if (!thread.ok()) panic(thread.error());
  return std::move(thread).value();
}

void send(Everybody& shared, std::uint64_t number) {
  Kernel& kernel = shared.kernel;
  const Result<FrameNumber> frame = kernel.memory->frames().allocate(page_order);
  const Result<void*> block = kernel.memory->heap().allocate(sizeof(Parcel));
  if (!frame.ok() || !block.ok()) panic("expected memory for a parcel, found none");
  auto& parcel = *static_cast<Parcel*>(block.value());
  parcel.frame = frame.value();
  parcel.number = number;
  parcel.content.fill(number);
  *kernel.memory->window().at<std::uint64_t>(frame.value()) = ~number;
  const MutexGuard guard(shared.mutex);
  parcel.next = shared.parcels;
  shared.parcels = &parcel;
  ++shared.sent;
}

bool open_one(Everybody& shared) {
  Parcel* parcel = nullptr;
  {
    const MutexGuard guard(shared.mutex);
    parcel = shared.parcels;
    if (parcel == nullptr) return false;
    shared.parcels = parcel->next;
    ++shared.opened;
  }
  KernelMemory& memory = *shared.kernel.memory;
  bool whole = *memory.window().at<std::uint64_t>(parcel->frame) == ~parcel->number;
  for (const std::uint64_t word : parcel->content) whole = whole && word == parcel->number;
  if (!whole) panic("expected parcel ", parcel->number, " as it was sent, found it changed");
  memory.frames().release(parcel->frame, page_order);
  memory.heap().free(parcel, sizeof(Parcel));
  return true;
}

void work(Job& job) {
  std::array<std::uint64_t, 256> on_the_stack;
  on_the_stack.fill(static_cast<std::uint64_t>(job.number));
  send(job.shared, static_cast<std::uint64_t>(job.number));
  current_scheduler().yield();
  open_one(job.shared);
  for (const std::uint64_t word : on_the_stack) {
    if (word != static_cast<std::uint64_t>(job.number)) panic("expected the stack as it was, found it changed");
  }
  job.shared.sum.fetch_add(static_cast<std::uint64_t>(job.number), MemoryOrder::relaxed);
}

// Three at a time, so that stacks are freed while others run on their neighbours.
void storm(Everybody& shared) {
  for (int number = 0; number < threads_each; number += 3) {
    std::array<Job, 3> jobs = {Job{shared, number}, Job{shared, number + 1}, Job{shared, number + 2}};
    std::array<std::optional<KernelThread>, 3> threads;
    for (std::size_t i = 0; i < 3; ++i) threads[i].emplace(require(spawn(shared.kernel, "worker", work, jobs[i])));
  }
}

}  // namespace

void run_payload(Kernel& kernel) {
  Everybody shared{kernel};
  {
    std::array<std::optional<KernelThread>, storms> threads;
    for (auto& thread : threads) thread.emplace(require(spawn(kernel, "storm", storm, shared)));
  }
  while (open_one(shared)) {
  }
  kernel.log.information("stress: ", storms, " x ", threads_each, " threads, sum ",
                         shared.sum.load(MemoryOrder::relaxed));
  std::uint64_t switches = 0, steals = 0;
  for (const Processor* processor : kernel.scheduler.processors()) {
    switches += processor->switches;
    steals += processor->steals;
  }
  kernel.log.information("stress: ", kernel.scheduler.processors().size(), " CPUs, ", switches, " switches, ", steals,
                         " threads stolen");
  if (kernel.scheduler.processors().size() > 1 && steals == 0) panic("expected idle CPUs to steal, found none did");
  if (shared.sent != shared.opened) panic("expected ", shared.sent, " parcels, found ", shared.opened);
  kernel.log.information("stress: every byte as it was written");
}

}  // namespace ingot::os
