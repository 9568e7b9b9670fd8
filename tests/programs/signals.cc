// Signals as POSIX and Linux have them: handlers, masks, queues, waiting, interrupted calls, faults, stacks.
// program-test: processors 2
// program-test: cast --tmpfs 1M
// program-test: expect all signals behaved
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cmath>

#include "tests/programs/check.h"

namespace {

volatile sig_atomic_t seen = 0;
siginfo_t last{};
std::atomic<int> order[16], order_count{0};

void count(int) { seen = seen + 1; }
void record(int signal, siginfo_t* information, void*) {
  last = *information;
  order[order_count++] = signal;
}

void handle(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  CHECK(sigaction(signal, &action, nullptr) == 0);
}
void handle_with_information(int signal, void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = flags | SA_SIGINFO;
  CHECK(sigaction(signal, &action, nullptr) == 0);
}
sigset_t set_of(int first, int second = 0) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, first);
  if (second != 0) sigaddset(&set, second);
  return set;
}
std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// A thread that sends a signal to the main one after a while.
struct Later {
  explicit Later(int signal, int milliseconds = 30)
      : signal_(signal), milliseconds_(milliseconds), to_(pthread_self()) {
    CHECK(pthread_create(&thread_, nullptr, run, this) == 0);
  }
  ~Later() { CHECK(pthread_join(thread_, nullptr) == 0); }
  static void* run(void* argument) {
    const Later& self = *static_cast<Later*>(argument);
    const timespec time{0, self.milliseconds_ * 1'000'000};
    nanosleep(&time, nullptr);
    CHECK(pthread_kill(self.to_, self.signal_) == 0);
    return nullptr;
  }
  int signal_, milliseconds_;
  pthread_t to_, thread_{};
};

void handlers_and_masks() {
  handle(SIGUSR1, count);
  CHECK(raise(SIGUSR1) == 0 && seen == 1);
  CHECK(kill(getpid(), SIGUSR1) == 0 && seen == 2);
  CHECK(kill(getpid(), 0) == 0);
  CHECK(kill(77, SIGUSR1) == -1 && errno == ESRCH);
  CHECK(syscall(SYS_tgkill, getpid(), 4711, SIGUSR1) == -1 && errno == ESRCH);
  CHECK(kill(getpid(), 65) == -1 && errno == EINVAL);

  const sigset_t blocked = set_of(SIGUSR1);
  sigset_t before, pending;
  CHECK(sigprocmask(SIG_BLOCK, &blocked, &before) == 0 && !sigismember(&before, SIGUSR1));
  CHECK(raise(SIGUSR1) == 0 && raise(SIGUSR1) == 0 && seen == 2);
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1 && sigismember(&pending, SIGUSR2) == 0);
  CHECK(sigprocmask(SIG_SETMASK, &before, nullptr) == 0 && seen == 3);  // once: it does not queue

  handle(SIGUSR1, SIG_IGN);
  CHECK(raise(SIGUSR1) == 0 && seen == 3);
  CHECK(raise(SIGCHLD) == 0 && raise(SIGWINCH) == 0);  // nothing, unless asked
  handle(SIGUSR2, count, SA_RESETHAND);
  CHECK(raise(SIGUSR2) == 0 && seen == 4);
  struct sigaction action;
  CHECK(sigaction(SIGUSR2, nullptr, &action) == 0 && action.sa_handler == SIG_DFL);
  CHECK(sigaction(SIGKILL, &action, nullptr) == -1 && errno == EINVAL);
  if (getpid() == 1) CHECK(raise(SIGTSTP) == 0);  // Ingot's kernel has no job control: it goes on
}

void realtime_signals_queue_in_order() {
  for (int signal : {SIGRTMIN + 1, SIGRTMIN + 2, SIGUSR1}) handle_with_information(signal, record);
  sigset_t blocked = set_of(SIGRTMIN + 1, SIGRTMIN + 2), before;
  sigaddset(&blocked, SIGUSR1);
  CHECK(sigprocmask(SIG_BLOCK, &blocked, &before) == 0);
  for (int i = 1; i <= 3; ++i) {
    sigval value{};
    value.sival_int = i;
    CHECK(sigqueue(getpid(), SIGRTMIN + 2, value) == 0 && sigqueue(getpid(), SIGRTMIN + 1, value) == 0);
  }
  CHECK(raise(SIGUSR1) == 0);
  order_count = 0;
  // Handlers of later ones run on top of the first's frame: the last to be told is the first to run.
  CHECK(sigprocmask(SIG_SETMASK, &before, nullptr) == 0 && order_count == 7);
  int numbers[3] = {};
  for (int i = 0; i < 7; ++i) ++numbers[order[i] == SIGUSR1 ? 0 : order[i] - SIGRTMIN];
  CHECK(numbers[0] == 1 && numbers[1] == 3 && numbers[2] == 3);

  // Waiting takes them in order, with what came along.
  CHECK(sigprocmask(SIG_BLOCK, &blocked, nullptr) == 0);
  for (int i = 1; i <= 3; ++i) {
    sigval value{};
    value.sival_int = i * 10;
    CHECK(sigqueue(getpid(), SIGRTMIN + 1, value) == 0);
  }
  const sigset_t wanted = set_of(SIGRTMIN + 1);
  for (int i = 1; i <= 3; ++i) {
    siginfo_t information;
    CHECK(sigwaitinfo(&wanted, &information) == SIGRTMIN + 1 && information.si_value.sival_int == i * 10);
    CHECK(information.si_code == SI_QUEUE && information.si_pid == getpid());
  }
  const timespec soon{0, 20'000'000};
  const std::int64_t begin = now();
  CHECK(sigtimedwait(&wanted, nullptr, &soon) == -1 && errno == EAGAIN && now() - begin >= 20'000'000);
  {
    const Later later(SIGRTMIN + 1);
    siginfo_t information;
    CHECK(sigwaitinfo(&wanted, &information) == SIGRTMIN + 1 && information.si_code == SI_USER);
  }
  CHECK(sigprocmask(SIG_SETMASK, &before, nullptr) == 0);
}

void interrupted_calls() {
  int ends[2];
  char byte = 0;
  CHECK(pipe(ends) == 0);
  handle(SIGUSR1, count);
  seen = 0;
  {
    const Later later(SIGUSR1);
    CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR && seen == 1);
  }
  static int writing;
  writing = ends[1];
  handle(SIGUSR1, [](int) { CHECK(write(writing, "x", 1) == 1); }, SA_RESTART);
  {
    const Later later(SIGUSR1);
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');  // it began again
  }
  handle(SIGUSR1, count, SA_RESTART);
  timespec wait{5, 0}, rest{};
  {
    const Later later(SIGUSR1);
    CHECK(nanosleep(&wait, &rest) == -1 && errno == EINTR && rest.tv_sec == 4);  // never begins again
  }
  pollfd entry{ends[0], POLLIN, 0};
  {
    const Later later(SIGUSR1);
    CHECK(poll(&entry, 1, 5000) == -1 && errno == EINTR);
  }
  // A signal that is ignored interrupts nothing.
  handle(SIGUSR2, SIG_IGN);
  {
    const Later later(SIGUSR2, 10);
    const std::int64_t begin = now();
    CHECK(poll(&entry, 1, 60) == 0 && now() - begin >= 60'000'000);
  }
  // Only while it waits: the mask of ppoll, pselect, epoll_pwait and sigsuspend.
  sigset_t before, none;
  const sigset_t blocked = set_of(SIGUSR1);
  sigemptyset(&none);
  CHECK(sigprocmask(SIG_BLOCK, &blocked, &before) == 0);
  seen = 0;
  CHECK(raise(SIGUSR1) == 0 && seen == 0);
  CHECK(ppoll(&entry, 1, nullptr, &none) == -1 && errno == EINTR && seen == 1);
  CHECK(raise(SIGUSR1) == 0 && seen == 1);
  fd_set files;
  FD_ZERO(&files);
  FD_SET(ends[0], &files);
  CHECK(pselect(ends[0] + 1, &files, nullptr, nullptr, nullptr, &none) == -1 && errno == EINTR && seen == 2);
  const int epoll = epoll_create1(0);
  epoll_event event{EPOLLIN, {}};
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0 && raise(SIGUSR1) == 0 && seen == 2);
  CHECK(epoll_pwait(epoll, &event, 1, -1, &none) == -1 && errno == EINTR && seen == 3);
  CHECK(raise(SIGUSR1) == 0 && sigsuspend(&none) == -1 && errno == EINTR && seen == 4);
  sigset_t after;
  CHECK(sigprocmask(SIG_BLOCK, nullptr, &after) == 0 && sigismember(&after, SIGUSR1) == 1);
  CHECK(sigprocmask(SIG_SETMASK, &before, nullptr) == 0 && seen == 4);
  {
    const Later later(SIGUSR1);
    CHECK(pause() == -1 && errno == EINTR && seen == 5);
  }
  // Nobody reads any more.
  handle(SIGPIPE, count);
  CHECK(close(ends[0]) == 0 && write(ends[1], "x", 1) == -1 && errno == EPIPE && seen == 6);
  close(ends[1]);
  close(epoll);
}

sigjmp_buf back;
void jump_back(int signal, siginfo_t* information, void*) {
  last = *information;
  siglongjmp(back, signal);
}

[[gnu::noinline]] int divide(int left, volatile int* right) { return left / *right; }

void faults_reach_handlers() {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) handle_with_information(signal, jump_back);
  auto* const page = static_cast<char*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  CHECK(page != MAP_FAILED);
  if (sigsetjmp(back, 1) == 0) {
    *static_cast<volatile char*>(page + 5) = 1;
    CHECK(false);
  }
  CHECK(last.si_signo == SIGSEGV && last.si_code == SEGV_ACCERR && last.si_addr == page + 5);
  if (sigsetjmp(back, 1) == 0) {
    *reinterpret_cast<volatile char*>(0x1234) = 1;
    CHECK(false);
  }
  CHECK(last.si_signo == SIGSEGV && last.si_code == SEGV_MAPERR && last.si_addr == reinterpret_cast<void*>(0x1234));
  if (sigsetjmp(back, 1) == 0) {
    *reinterpret_cast<volatile char*>(0x8000'0000'0000'0000) = 1;  // no address at all
    CHECK(false);
  }
  CHECK(last.si_signo == SIGSEGV && last.si_code == SI_KERNEL);
  volatile int zero = 0;
  if (sigsetjmp(back, 1) == 0) {
    volatile int result = divide(100, &zero);
    CHECK(result == 0);
    CHECK(false);
  }
  CHECK(last.si_signo == SIGFPE && last.si_code == FPE_INTDIV);
  if (sigsetjmp(back, 1) == 0) {
    // By the x87: an emulator may not watch SSE.
    const unsigned short unmasked = 0x37f & ~(1u << 2);  // division by zero
    asm volatile("fldcw %0; fld1; fldz; fdivrp; fwait" : : "m"(unmasked));
    CHECK(false);
  }
  CHECK(last.si_signo == SIGFPE && last.si_code == FPE_FLTDIV);
  if (sigsetjmp(back, 1) == 0) asm volatile("ud2");
  CHECK(last.si_signo == SIGILL && last.si_code == ILL_ILLOPN);
  if (sigsetjmp(back, 1) == 0) asm volatile("int3");
  CHECK(last.si_signo == SIGTRAP);
  const int file = memfd_create("short", 0);
  CHECK(file >= 0 && ftruncate(file, 10) == 0);
  auto* const mapped = static_cast<char*>(mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file, 0));
  CHECK(mapped != MAP_FAILED);
  if (sigsetjmp(back, 1) == 0) {
    CHECK(*static_cast<volatile char*>(mapped + 5000) == 0);
    CHECK(false);
  }
  CHECK(last.si_signo == SIGBUS && last.si_code == BUS_ADRERR && last.si_addr == mapped + 5000);
  close(file);
  // A handler that mends what was wrong: the instruction runs again.
  handle_with_information(SIGSEGV, [](int, siginfo_t* information, void*) {
    const auto address = reinterpret_cast<std::uintptr_t>(information->si_addr) & ~std::uintptr_t{4095};
    CHECK(mprotect(reinterpret_cast<void*>(address), 4096, PROT_READ | PROT_WRITE) == 0);
  });
  *static_cast<volatile char*>(page + 4100) = 7;
  CHECK(page[4100] == 7);
}

// Registers survive a handler that uses them, and a handler can change what its program goes on with.
void registers_in_the_frame() {
  handle_with_information(SIGUSR1, [](int, siginfo_t*, void* context) {
    volatile double noise = 3;
    for (int i = 0; i < 100; ++i) noise = std::sqrt(noise + i);
    asm volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0; vmovdqa %%ymm0, %%ymm15" : : : "xmm0", "xmm15");
    const unsigned other_rounding = 0x1f80 | 3u << 13;
    asm volatile("ldmxcsr %0" : : "m"(other_rounding));
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
    CHECK(registers.fpregs != nullptr && registers.fpregs->mxcsr == (0x1f80u | 1u << 13));
    registers.gregs[REG_RBX] = 4711;
  });
  const unsigned rounding = 0x1f80 | 1u << 13, usual = 0x1f80;
  unsigned found = 0;
  alignas(32) const long long wanted[4] = {1, 2, 3, 4};
  alignas(32) long long kept[4] = {};
  long changed = 0;
  const long process = getpid();
  asm volatile(
      "ldmxcsr %[rounding]\n\t"
      "vmovdqa %[wanted], %%ymm15\n\t"
      "movq $1, %%rbx\n\t"
      "movl $62, %%eax\n\t"  // kill: this process
      "movq %[process], %%rdi\n\t"
      "movl $10, %%esi\n\t"
      "syscall\n\t"
      "movq %%rbx, %[changed]\n\t"
      "vmovdqa %%ymm15, %[kept]\n\t"
      "stmxcsr %[found]\n\t"
      "ldmxcsr %[usual]\n\t"
      : [changed] "=&r"(changed), [kept] "=m"(kept), [found] "=m"(found)
      : [rounding] "m"(rounding), [wanted] "m"(wanted), [process] "r"(process), [usual] "m"(usual)
      : "rax", "rbx", "rcx", "rdi", "rsi", "r11", "xmm15", "memory");
  CHECK(changed == 4711 && found == rounding && std::memcmp(kept, wanted, sizeof kept) == 0);
}

char alternate[65536];
volatile int depth = 0;
[[gnu::noinline]] int overflow_stack(int level) {
  volatile char room[4096];
  room[0] = static_cast<char>(level);
  depth = level;
  return level < 1'000'000 ? overflow_stack(level + 1) + room[0] : 0;
}

void alternate_stacks() {
  stack_t stack{}, before{};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  CHECK(sigaltstack(&stack, &before) == 0 && before.ss_flags == SS_DISABLE);
  handle_with_information(
      SIGUSR1,
      [](int, siginfo_t*, void*) {
        char here = 0;
        CHECK(&here > alternate && &here < alternate + sizeof alternate);
        stack_t inside{};
        CHECK(sigaltstack(nullptr, &inside) == 0 && inside.ss_flags == SS_ONSTACK);
        CHECK(sigaltstack(&inside, nullptr) == -1 && errno == EPERM);
        if (depth == 0) {
          depth = 1;
          CHECK(raise(SIGUSR1) == 0);  // nested, on the same stack
        }
        seen = seen + 1;
      },
      SA_ONSTACK | SA_NODEFER);
  seen = 0;
  depth = 0;
  CHECK(raise(SIGUSR1) == 0 && seen == 2);
  handle_with_information(SIGSEGV, jump_back, SA_ONSTACK);
  if (sigsetjmp(back, 1) == 0) overflow_stack(0);
  CHECK(last.si_signo == SIGSEGV && depth > 1000);
  stack.ss_flags = SS_DISABLE;
  CHECK(sigaltstack(&stack, &before) == 0 && before.ss_sp == alternate);
  stack.ss_flags = 0;
  stack.ss_size = 100;
  CHECK(sigaltstack(&stack, nullptr) == -1 && errno == ENOMEM);
}

void threads_and_signals() {
  // To the process: whichever thread does not block it.
  const sigset_t blocked = set_of(SIGUSR1);
  sigset_t before;
  handle(SIGUSR1, count);
  CHECK(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
  static std::atomic<int> ready;
  ready = 0;
  pthread_t thread;
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              const sigset_t open = set_of(SIGUSR1);
              CHECK(pthread_sigmask(SIG_UNBLOCK, &open, nullptr) == 0);
              ready = 1;
              while (ready == 1) {
                const timespec time{0, 5'000'000};
                nanosleep(&time, nullptr);
              }
              return nullptr;
            },
            nullptr) == 0);
  while (ready == 0) sched_yield();
  seen = 0;
  CHECK(kill(getpid(), SIGUSR1) == 0);
  for (int i = 0; i < 1000 && seen == 0; ++i) usleep(1000);
  CHECK(seen == 1);
  ready = 2;
  CHECK(pthread_join(thread, nullptr) == 0);
  CHECK(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);

  // A thread that only computes is interrupted for it.
  static std::atomic<bool> stop;
  stop = false;
  handle(SIGUSR2, [](int) { stop = true; });
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              ready = 3;
              while (!stop) {
              }
              return nullptr;
            },
            nullptr) == 0);
  while (ready != 3) sched_yield();
  CHECK(pthread_kill(thread, SIGUSR2) == 0 && pthread_join(thread, nullptr) == 0);
}

std::atomic<int> cleaned;
void cancellation() {
  static int ends[2];
  CHECK(pipe(ends) == 0);
  pthread_t thread;
  void* result = nullptr;
  cleaned = 0;
  // In a call that waits.
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              pthread_cleanup_push([](void*) { ++cleaned; }, nullptr);
              char byte = 0;
              CHECK(read(ends[0], &byte, 1) == 1);
              pthread_cleanup_pop(0);
              return nullptr;
            },
            nullptr) == 0);
  usleep(10'000);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
  CHECK(result == PTHREAD_CANCELED && cleaned == 1);
  // Anywhere.
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
              for (;;) {
              }
            },
            nullptr) == 0);
  usleep(10'000);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  // Waiting for a condition: the mutex is held again in the cleanup.
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  CHECK(pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              pthread_mutex_lock(&mutex);
              pthread_cleanup_push([](void*) { pthread_mutex_unlock(&mutex); }, nullptr);
              for (;;) pthread_cond_wait(&condition, &mutex);
              pthread_cleanup_pop(1);
            },
            nullptr) == 0);
  usleep(10'000);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(pthread_mutex_trylock(&mutex) == 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace

int main() {
  handlers_and_masks();
  realtime_signals_queue_in_order();
  interrupted_calls();
  faults_reach_handlers();
  registers_in_the_frame();
  alternate_stacks();
  threads_and_signals();
  cancellation();
  std::puts("all signals behaved");
  return 0;
}
