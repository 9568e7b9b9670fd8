// Vector registers belong to the thread that owns them: they survive switches, and a new thread finds none of
// another's.
//
// boot-test: success
// boot-test: expect vectors: 6 x 100 rounds kept
// boot-test: expect vectors: a new thread finds zeros
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

struct alignas(32) Vector {
  std::uint64_t words[4];
};

// The widest that this CPU has. Assembly: the kernel's compiler does not know vector registers.
bool has_avx() {
  constexpr std::uint32_t avx_and_enabled = 3u << 27;
  return (arch::cpuid(1).ecx & avx_and_enabled) == avx_and_enabled;
}
void load(const Vector& first, const Vector& last) {
  if (has_avx()) {
    asm volatile("vmovdqa %0, %%ymm0\n\tvmovdqa %1, %%ymm15" : : "m"(first), "m"(last));
  } else {
    asm volatile("movdqa %0, %%xmm0\n\tmovdqa %1, %%xmm15" : : "m"(first), "m"(last));
  }
}
void store(Vector& first, Vector& last) {
  if (has_avx()) {
    asm volatile("vmovdqa %%ymm0, %0\n\tvmovdqa %%ymm15, %1" : "=m"(first), "=m"(last));
  } else {
    asm volatile("movdqa %%xmm0, %0\n\tmovdqa %%xmm15, %1" : "=m"(first), "=m"(last));
  }
}
void expect_equal(const Vector& wanted, const Vector& found) {
  for (std::size_t i = 0; i < (has_avx() ? 4 : 2); ++i) {
    if (wanted.words[i] != found.words[i]) panic("vectors: expected ", wanted.words[i], ", found ", found.words[i]);
  }
}

struct Keeper {
  std::uint64_t seed;
  int rounds = 0;
};
void keep(Keeper& keeper) {
  for (; keeper.rounds < 100; ++keeper.rounds) {
    Vector first{}, last{}, found_first{}, found_last{};
    for (std::size_t i = 0; i < 4; ++i) {
      first.words[i] = keeper.seed * 1000 + static_cast<std::uint64_t>(keeper.rounds);
      last.words[i] = ~first.words[i] - i;
    }
    load(first, last);
    current_scheduler().yield();
    store(found_first, found_last);
    expect_equal(first, found_first);
    expect_equal(last, found_last);
  }
}
void expect_none(bool& clean) {
  Vector first{1}, last{1};
  store(first, last);
  expect_equal({}, first);
  expect_equal({}, last);
  clean = true;
}

KernelThread require(Result<KernelThread> thread) {
  if (!thread.ok()) panic(thread.error());
  return std::move(thread).value();
}

}  // namespace

void run_payload(Kernel& kernel) {
  Keeper keepers[6] = {{1}, {2}, {3}, {4}, {5}, {6}};
  std::optional<KernelThread> threads[6];
  for (std::size_t i = 0; i < 6; ++i) {
    threads[i].emplace(require(spawn(kernel, "keeper", keep, keepers[i], VectorUse::own)));
  }
  int rounds = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    threads[i]->join();
    rounds += keepers[i].rounds;
  }
  if (rounds == 600) kernel.log.information("vectors: 6 x 100 rounds kept");
  bool clean = false;
  require(spawn(kernel, "new", expect_none, clean, VectorUse::own)).join();
  if (clean) kernel.log.information("vectors: a new thread finds zeros");
}

}  // namespace ingot::os
