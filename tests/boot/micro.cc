// What the kernel's commonest steps cost, in cycles of the counter: bench/os_micro boots this where a cycle is an
// instruction, and reads the lines.
//
// boot-test: success
// boot-test: expect micro: context switch
// boot-test: expect micro: context switch with vectors
// boot-test: expect micro: mutex lock and unlock
// boot-test: expect micro: frame from and to the cache
// boot-test: expect micro: map 2 MiB
// boot-test: expect micro: interrupt of a program to a woken thread
#include <algorithm>

#include "os/boot/kernel.h"
#include "os/schedule/mutex.h"
#include "os/schedule/sleep.h"
#include "os/trace/panic.h"
#include "tests/boot/tiny_program.h"

namespace ingot::os {

namespace {

constexpr std::size_t rounds = 101;

class Samples {
 public:
  // What `step` takes, without the taking of time.
  template <class Step>
  void take(Step&& step) {
    const std::uint64_t begin = arch::cycle_count();
    step();
    const std::uint64_t end = arch::cycle_count();
    add(end - begin - (arch::cycle_count() - end));
  }
  void add(std::uint64_t sample) { samples_[count_++] = sample; }
  std::uint64_t median() {
    std::sort(samples_, samples_ + count_);
    return samples_[count_ / 2];
  }

 private:
  std::uint64_t samples_[rounds];
  std::size_t count_ = 0;
};

void report(Kernel& kernel, std::string_view what, std::uint64_t count) {
  kernel.log.information("micro: ", what, " ", count);
}

// Two threads that yield to each other: there and back are two switches.
void measure_switch(Kernel& kernel, std::string_view what, VectorUse vectors) {
  Samples samples;
  const auto take = [](Samples& own) {
    for (std::size_t i = 0; i < rounds; ++i) own.take([] { current_scheduler().yield(); });
  };
  const auto answer = [](Samples&) {
    for (std::size_t i = 0; i < rounds; ++i) current_scheduler().yield();
  };
  Result<KernelThread> asks = spawn(kernel, "asks", take, samples, vectors);
  Result<KernelThread> answers = spawn(kernel, "answers", answer, samples, vectors);
  if (!asks.ok() || !answers.ok()) panic("expected two threads, found no memory");
  asks.value().join();
  answers.value().join();
  report(kernel, what, samples.median() / 2);
}

void measure_mutex(Kernel& kernel) {
  Mutex mutex(LockRank::device);
  Samples samples;
  for (std::size_t i = 0; i < rounds; ++i) {
    samples.take([&] {
      mutex.lock();
      mutex.unlock();
    });
  }
  report(kernel, "mutex lock and unlock", samples.median());
}

void measure_frames(Kernel& kernel) {
  CachedFrames& frames = kernel.memory->cached_frames();
  Samples samples;
  for (std::size_t i = 0; i < rounds; ++i) {
    samples.take([&] {
      const Result<FrameNumber> frame = frames.allocate(page_order);
      if (frame.ok()) frames.release(frame.value(), page_order);
    });
  }
  report(kernel, "frame from and to the cache", samples.median());
}

// Into a table of its own, next to a page that is there: the tables above exist.
void measure_map(Kernel& kernel) {
  Result<NativePageTable> table = NativePageTable::create(kernel.memory->frames(), kernel.memory->window());
  if (!table.ok()) panic(table.error());
  const PageAttributes attributes{Access::read | Access::write};
  Samples samples;
  for (std::size_t i = 0; i <= rounds; ++i) {
    const VirtualAddress address(giant_page_bytes + i * large_page_bytes);
    const auto map = [&] {
      const Result<void> mapped = table.value().map(address, PhysicalAddress(0), PageSize::large, attributes);
      if (!mapped.ok()) panic(mapped.error());
    };
    if (i == 0) {
      map();
    } else {
      samples.take(map);
    }
  }
  TlbBatch batch(kernel.memory->tlb(), kernel.memory->frames());
  static_cast<void>(
      table.value().unmap(VirtualAddress(giant_page_bytes), giant_page_bytes, batch, [](const MappedPage&) {}));
  batch.finish();
  table.value().destroy();
  report(kernel, "map 2 MiB", samples.median());
}

// A thread sleeps while a program keeps the CPU in ring 3: from the program's last step to the thread's first.
struct Awakening {
  Kernel& kernel;
  TinyProgram program;
  Samples samples;

  void take() {
    for (std::size_t i = 0; i < rounds; ++i) {
      sleep_thread_until(kernel.now() + Nanoseconds(200'000));
      const std::uint64_t now = arch::cycle_count();
      samples.add(static_cast<std::uint32_t>(now) - program.word_at(TinyProgram::top_of_stack));
    }
    program.process->end(0);
  }
};

void measure_awakening(Kernel& kernel) {
  Awakening awakening{kernel, TinyProgram(kernel, notes_the_time), {}};
  KernelThread sleeper = require(spawn_on(kernel, 0, "sleeper", [](Awakening& own) { own.take(); }, awakening));
  awakening.program.run();
  sleeper.join();
  report(kernel, "interrupt of a program to a woken thread", awakening.samples.median());
}

}  // namespace

void run_payload(Kernel& kernel) {
  measure_switch(kernel, "context switch", VectorUse::none);
  measure_switch(kernel, "context switch with vectors", VectorUse::own);
  measure_mutex(kernel);
  measure_frames(kernel);
  measure_map(kernel);
  measure_awakening(kernel);
}

}  // namespace ingot::os
