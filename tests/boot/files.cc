// An archive that the loader brought becomes a tree; a program in ring 3 opens, reads, writes and waits for files.
//
// boot-test: success
// boot-test: processors 2
// boot-test: file etc/motd words from the archive
// boot-test: file etc/deep/link -> ../motd
// boot-test: expect files: /etc/deep/link holds "words from the archive"
// boot-test: expect files: /proc/cpuinfo names the processor
// boot-test: expect files: a quota of 1 MiB takes 1044480 bytes
// boot-test: expect console: words from the archive
// boot-test: expect console: late
// boot-test: expect files: exit status 4
#include <string_view>

#include "os/boot/kernel.h"
#include "os/file/channels/pipe.h"
#include "os/process/process.h"
#include "os/process/running_process_report.h"
#include "os/schedule/sleep.h"
#include "os/trace/panic.h"

// Its instructions run where they are copied to. 1: openat, read, write. 2: read from a pipe (3) that is empty at
// first. 3: a timerfd of 1 ms, by poll and by read. The status: bytes that the pipe gave.
asm(R"(
  .pushsection .rodata
ingot_files_program:
  sub $256, %rsp
  mov $257, %eax                # openat(AT_FDCWD, path, O_RDONLY)
  mov $-100, %edi
  lea 9f(%rip), %rsi
  xor %edx, %edx
  syscall
  mov %eax, %edi
  xor %eax, %eax                # read(file, stack, 200)
  mov %rsp, %rsi
  mov $200, %edx
  syscall
  mov %eax, %edx
  mov $1, %eax                  # write(1, stack, what was read)
  mov $1, %edi
  mov %rsp, %rsi
  syscall
  xor %eax, %eax                # read(3, stack, 200)
  mov $3, %edi
  mov %rsp, %rsi
  mov $200, %edx
  syscall
  mov %eax, %r12d
  mov %eax, %edx
  mov $1, %eax                  # write(1, stack, what was read)
  mov $1, %edi
  mov %rsp, %rsi
  syscall
  mov $283, %eax                # timerfd_create(CLOCK_MONOTONIC, 0)
  mov $1, %edi
  xor %esi, %esi
  syscall
  mov %eax, %r13d
  movq $0, (%rsp)               # once, after 1 ms
  movq $0, 8(%rsp)
  movq $0, 16(%rsp)
  movq $1000000, 24(%rsp)
  mov $286, %eax                # timerfd_settime(timer, 0, stack, none)
  mov %r13d, %edi
  xor %esi, %esi
  mov %rsp, %rdx
  xor %r10d, %r10d
  syscall
  mov %r13d, 32(%rsp)           # poll(timer for reading, 1, forever)
  movw $1, 36(%rsp)
  movw $0, 38(%rsp)
  mov $7, %eax
  lea 32(%rsp), %rdi
  mov $1, %esi
  mov $-1, %edx
  syscall
  cmp $1, %eax
  jne 8f
  xor %eax, %eax                # read(timer, stack, 8)
  mov %r13d, %edi
  mov %rsp, %rsi
  mov $8, %edx
  syscall
  cmp $8, %eax
  jne 8f
  cmpq $1, (%rsp)
  jne 8f
  mov $231, %eax                # exit_group(bytes of the pipe)
  mov %r12d, %edi
  syscall
8: mov $231, %eax
  mov $99, %edi
  syscall
9: .asciz "/etc/deep/../deep/link"
ingot_files_program_end:
  .popsection
)");
extern "C" const char ingot_files_program[], ingot_files_program_end[];

namespace ingot::os {

namespace {

template <class Value>
Value require(Result<Value> result) {
  if (!result.ok()) panic("files: ", result.error());
  return std::move(result).value();
}
template <class Value>
Value require(Answer<Value> answer, std::string_view what) {
  if (!answer.ok()) panic("files: expected ", what, ", found ", name_of(answer.error()));
  return std::move(answer).value();
}

// What the program writes becomes lines of the log.
class LoggingConsole final : public DeviceOpener {
 public:
  explicit LoggingConsole(Kernel& kernel) : kernel_(kernel) {}
  Answer<Reference<FileDescription>> open(Node& node, std::uint32_t flags) override {
    return Reference<FileDescription>(TRY(make_reference<Opened>(kernel_.memory->heap(), kernel_, node, flags)));
  }

 private:
  class Opened final : public FileDescription {
   public:
    Opened(Kernel& kernel, Node& node, std::uint32_t flags) : FileDescription(flags), kernel_(kernel), node_(node) {}
    Answer<FileStatus> status() override { return node_->status(); }
    Node* node() override { return node_.get(); }

   private:
    Answer<std::size_t> write_bytes(Transfer& from) override {
      char line[80];
      const std::size_t bytes = TRY(from.take(std::as_writable_bytes(std::span(line))));
      kernel_.log.information("console: ", std::string_view(line, bytes));
      return bytes;
    }
    Kernel& kernel_;
    Reference<Node> node_;
  };
  Kernel& kernel_;
};

std::string_view read_text(ProcessFiles& files, std::string_view path, std::span<char> room) {
  const Reference<FileDescription> file = require(files.tree().open(files.tree().root(), path, 0, 0), path);
  KernelTransfer transfer(std::as_bytes(room));
  return {room.data(), require(file->read(transfer), path)};
}

void use_from_the_kernel(Kernel& kernel, ProcessFiles& files) {
  char room[512];
  kernel.log.information("files: /etc/deep/link holds \"", read_text(files, "/etc/deep/link", room), "\"");
  if (read_text(files, "/proc/cpuinfo", room).find("model name\t: ") != std::string_view::npos) {
    kernel.log.information("files: /proc/cpuinfo names the processor");
  }
  if (!read_text(files, "/sys/devices/system/cpu/online", room).starts_with('0')) panic("files: expected CPU 0 online");
  constexpr std::uint32_t flags = open_flag::read_write | open_flag::create;
  const Reference<FileDescription> file =
      require(files.tree().open(files.tree().root(), "/tmp/x", flags, 0644), "/tmp");
  std::uint64_t written = 0;
  while (true) {
    KernelTransfer transfer(std::as_bytes(std::span(room)));
    const Answer<std::size_t> moved = file->write(transfer);
    if (!moved.ok() && moved.error() == Errno::enospc) break;
    written += require(Answer<std::size_t>(moved.value()), "room");
  }
  kernel.log.information("files: a quota of 1 MiB takes ", written, " bytes");
}

constexpr VirtualAddress program_address{0x400000};
constexpr UserAddress program_entry = *UserAddress::of(program_address.value());

int run_program(Kernel& kernel, Process& process) {
  KernelMemory& memory = *kernel.memory;
  AnonymousMemory zeroes(memory.frames(), memory.window());  // gone before the process: its region goes first
  AddressSpace& space = process.space();
  constexpr std::uint64_t bytes = 2 * page_bytes;
  require(space.add(
      {.object = &zeroes, .bytes = bytes, .access = Access::read | Access::write, .address = program_address}));
  use_address_space(&space);
  require(copy_to_user(program_address, ingot_files_program,
                       static_cast<std::uint64_t>(ingot_files_program_end - ingot_files_program)));
  use_address_space(nullptr);
  require(space.protect(program_address, page_bytes, Access::read | Access::execute));
  PipeEnds ends = require(make_pipe(process.files().services(), 0), "a pipe");
  require(process.files().descriptors().put(3, ends.reading, OnExecute::keeps), "a descriptor");
  process.start(*require(process.add_thread(arch::first_frame(program_entry, program_address + bytes), {})));
  sleep_thread_until(kernel.now() + Nanoseconds(20'000'000));  // by now the program waits for the pipe
  KernelTransfer late(std::as_bytes(std::span("late", 4)));
  require(ends.writing->write(late), "room in a pipe");
  const int status = process.run();
  require(space.remove(program_address, bytes));
  return status;
}

}  // namespace

void run_payload(Kernel& kernel) {
  LoggingConsole console(kernel);
  require(kernel.system_calls.fill());
  kernel.machine_report.start();
  Owned<Process> process = require(Process::create(kernel, 16 << 20));
  const Manifest manifest = require(Manifest::parse("ingot manifest 1\nprogram /etc/motd\n"));
  RunningProcessReport facts(*process, manifest, {});
  require(facts.set_executable(manifest.program));
  const PhysicalRange archive = kernel.boot_info.modules()[0];
  TreePlan plan;
  plan.archives = archive.begin;
  plan.archive_bytes = archive.bytes;
  plan.tmpfs_bytes = 1 << 20;
  plan.system = &kernel.machine_report;
  plan.process = &facts;
  plan.random = &kernel.random;
  plan.console = &console;
  require(process->files().build(plan));
  require(process->files().open_standard_files());
  use_from_the_kernel(kernel, process->files());
  kernel.log.information("files: exit status ", run_program(kernel, *process));
}

}  // namespace ingot::os
