// Fork and join in three counters.
//
//   unclaimed   chunks nobody has taken. Taking one is a fetch_sub that returns more than zero, and it is also what
//               makes the job readable: the join waits for every chunk taken, so between taking a chunk and reporting
//               it the job cannot change. A worker that wakes late finds zero, takes nothing, reads nothing and is not
//               waited for. A worker that wakes very late may take a chunk of the next job: that is simply a chunk.
//   unfinished  chunks not yet reported. The thread that brings it to zero ends the join.
//   sleepers    workers that sleep or are about to. Sleeper: count itself, then look at `unclaimed`. Caller: set
//               `unclaimed`, then look at `sleepers`. All four steps are sequentially consistent, so one sees the
//               other, and no wake is missed. The join's sleep has the same shape.
#include "machine/workers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

#include "machine/affinity.h"
#include "machine/futex.h"
#include "machine/limits.h"
#include "machine/shared_core.h"

namespace ingot {
namespace {

// Two 64-byte lines: x86 prefetches lines in pairs, and some aarch64 lines are 128 bytes.
constexpr std::size_t line_pair = 128;

// Longer than the gap between two kernels of one token, shorter than anyone would notice on a shared machine.
constexpr std::chrono::nanoseconds patience = std::chrono::microseconds(50);
// How many times as long a thread waits for others to end their last chunks of a job: chunks of large products take as
// long as a gap may, and where threads slept then some products ran at half speed (docs/decisions/023).
constexpr int patience_within_job = 4;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("yield" ::: "memory");
#endif
}

template <class Condition>
bool spin_until(Condition holds, std::chrono::nanoseconds limit) {
  if (holds()) return true;
  if (limit.count() == 0) return false;
  auto deadline = std::chrono::steady_clock::now() + limit;
  do {
    for (int round = 0; round < 16; ++round) {  // a clock costs more than a look
      relax();
      if (holds()) return true;
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

}  // namespace

struct Workers::Implementation {
  struct Job {
    ChunkFunction function = nullptr;
    void* context = nullptr;
    std::int64_t items = 0, chunk = 1, chunks = 0;

    void run(std::int64_t index, int worker) const {
      std::int64_t begin = index * chunk;
      std::int64_t end = items - begin < chunk ? items : begin + chunk;
      function(context, begin, end, worker);
    }
  };

  // The job shares its line with the counter: whoever takes a chunk has just been given the line.
  alignas(line_pair) std::atomic<std::int64_t> unclaimed{0};
  Job job;
  alignas(line_pair) std::atomic<std::int64_t> unfinished{0};
  std::atomic<std::uint32_t> caller_sleeps{0};
  alignas(line_pair) std::atomic<std::uint32_t> wake_epoch{0};  // what sleepers sleep on
  std::atomic<int> sleepers{0};
  std::atomic<bool> stopping{false};
  std::atomic<bool> busy{false};

  int count = 1;
  std::chrono::nanoseconds spin_limit{0};
  std::vector<std::thread> threads;
  pthread_t creator{};
  std::vector<int> creator_cpus;  // to give back; empty when not pinned

  ~Implementation() {
    stopping.store(true);
    wake_epoch.fetch_add(1);
    futex_wake(wake_epoch, count);
    for (std::thread& thread : threads) thread.join();
    // Best effort: only the creating thread's own handle is known to be alive here.
    if (!creator_cpus.empty() && pthread_equal(creator, pthread_self())) {
      (void)set_thread_cpus(creator, creator_cpus).ok();
    }
  }

  // Takes chunks until none are left or it is time to stop; returns how many. noexcept: a task that throws would leave
  // others with a dead context, so it ends the program instead.
  template <class Condition>
  std::int64_t take_chunks(int worker, Condition is_time_to_stop) noexcept {
    std::int64_t taken = 0;
    while (!is_time_to_stop()) {
      std::int64_t left = unclaimed.fetch_sub(1, std::memory_order_acquire);
      if (left <= 0) break;
      job.run(job.chunks - left, worker);
      ++taken;
    }
    return taken;
  }

  void serve(int worker) noexcept {
    auto work_or_stop = [this] { return unclaimed.load() > 0 || stopping.load(); };
    SharedCore<> core;
    while (true) {
      std::int64_t taken = take_chunks(worker, [&core] { return core.is_turn_over(); });
      // Reported once a job and not once a chunk: until then the job cannot end, so all chunks were of one job.
      if (taken > 0 && unfinished.fetch_sub(taken) == taken && caller_sleeps.exchange(0) != 0) {
        futex_wake(caller_sleeps, 1);
      }
      core.offer_when_due();  // nothing in hand, nothing unreported
      while (!spin_until(work_or_stop, unfinished.load() > 0 ? spin_limit * patience_within_job : spin_limit)) {
        std::uint32_t epoch = wake_epoch.load();
        sleepers.fetch_add(1);
        if (!work_or_stop()) futex_wait(wake_epoch, epoch);
        sleepers.fetch_sub(1);
        core.begin_turn();
      }
      if (stopping.load()) return;
    }
  }

  void fork() {
    unfinished.store(job.chunks, std::memory_order_relaxed);  // published by the next store
    unclaimed.store(job.chunks);
    int asleep = sleepers.load();
    if (asleep > 0) {
      wake_epoch.fetch_add(1);
      futex_wake(wake_epoch, static_cast<int>(std::min<std::int64_t>(asleep, job.chunks - 1)));
    }
  }

  void join(std::int64_t taken) {
    auto finished = [this] { return unfinished.load() == 0; };
    if (unfinished.fetch_sub(taken) == taken) return;
    while (!spin_until(finished, spin_limit * patience_within_job)) {
      caller_sleeps.store(1);
      if (!finished()) futex_wait(caller_sleeps, 1);
      caller_sleeps.store(0);
    }
  }

  Result<void> start(WorkerOptions options);
};

Result<void> Workers::Implementation::start(WorkerOptions options) {
  count = options.threads;
  // With more threads than CPUs a spinning thread only keeps the CPU from the one it waits for.
  if (count <= usable_cpu_count()) spin_limit = patience;
  std::vector<int> cpus = affinity_cpus();
  bool pinned = options.pinning == Pinning::one_cpu_each;
  if (pinned && static_cast<std::size_t>(count) > cpus.size()) {
    return Error::of(ErrorCode::invalid_argument, "expected at most ", cpus.size(),
                     " pinned threads, one for each CPU of the affinity mask, found ", count);
  }
  threads.reserve(static_cast<std::size_t>(count) - 1);
  for (int worker = 1; worker < count; ++worker) {
    try {
      threads.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error& refusal) {
      return Error::of(ErrorCode::input_output, "expected to start ", count - 1, " worker threads, found ", worker - 1,
                       " and then: ", refusal.what());
    }
    auto cpu = static_cast<std::size_t>(worker);
    if (pinned) TRY(set_thread_cpus(threads.back().native_handle(), {cpus[cpu]}));
  }
  if (pinned) {
    creator = pthread_self();
    TRY(set_thread_cpus(creator, {cpus[0]}));
    creator_cpus = cpus;
  }
  return {};
}

Result<std::unique_ptr<Workers>> Workers::create(WorkerOptions options) {
  constexpr int most_threads = 1024;
  if (options.threads < 1 || options.threads > most_threads) {
    return Error::of(ErrorCode::invalid_argument, "expected 1 to ", most_threads, " worker threads, found ",
                     options.threads);
  }
  auto implementation = std::make_unique<Implementation>();
  TRY(implementation->start(options));
  return std::unique_ptr<Workers>(new Workers(std::move(implementation)));
}

Workers::Workers(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Workers::~Workers() = default;

int Workers::count() const { return implementation_->count; }

void Workers::run_chunks(std::int64_t items, std::int64_t chunk, ChunkFunction function, void* context) {
  Implementation& pool = *implementation_;
  // Both are bugs in the caller that would corrupt results: a bad range, and a second job while one is under way.
  if (items < 0 || chunk < 1 || pool.busy.load(std::memory_order_relaxed)) __builtin_trap();
  if (items == 0) return;

  std::int64_t chunks = (items - 1) / chunk + 1;
  Implementation::Job job{function, context, items, chunk, chunks};
  pool.busy.store(true, std::memory_order_relaxed);
  if (chunks == 1 || pool.count == 1) {
    for (std::int64_t index = 0; index < chunks; ++index) job.run(index, 0);
  } else {
    pool.job = job;
    pool.fork();
    pool.join(pool.take_chunks(0, [] { return false; }));
  }
  pool.busy.store(false, std::memory_order_relaxed);
}

}  // namespace ingot
