#include "os/process/launch.h"

#include <array>

#include "base/image/image_manifest.h"
#include "os/boot/command_line.h"
#include "os/boot/kernel.h"
#include "os/device/terminal.h"
#include "os/file/cpio.h"
#include "os/file/process_files.h"
#include "os/process/executable.h"
#include "os/process/grants.h"
#include "os/process/initial_stack.h"
#include "os/process/log_device.h"
#include "os/process/process.h"
#include "os/process/program_arguments.h"
#include "os/process/program_places.h"
#include "os/process/running_process_report.h"
#include "os/process/signal_frame.h"
#include "os/process/vdso.h"

namespace ingot::os {

namespace {

constexpr std::string_view manifest_path = "ingot/manifest";
constexpr std::size_t argument_bytes = 64 * 1024;
constexpr std::size_t most_segments = 30;

using Path = FixedText<256>;

Result<Path> path_of(EscapedText text) {
  Path path;
  text.each([&](char letter) { path.append(letter); });
  if (!path.truncated()) return path;
  return Error::of(ErrorCode::out_of_range, "expected a path of at most 256 letters, found ", text.size());
}

std::span<const std::byte> bytes_of(Kernel& kernel, PhysicalRange range) {
  return {kernel.memory->window().at<std::byte>(range.begin), range.bytes};
}

Result<void> trace_if_wanted(Kernel& kernel, const Manifest& manifest) {
  const auto wish = command_line_option(kernel.boot_info.command_line.view(), "trace");
  if (wish && *wish != "syscalls") {
    return Error::of(ErrorCode::unsupported, "expected trace=syscalls on the boot line, found trace=", *wish);
  }
  if (wish || manifest.traces_system_calls) kernel.system_calls.trace();
  return {};
}

// All that the machine has, and what the program may add to it by using up files.
Result<std::uint64_t> most_memory(Kernel& kernel, const Manifest& manifest) {
  std::uint64_t bytes = kernel.boot_info.memory.bytes_of(MemoryKind::usable);
  ManifestReader entries = manifest.entries();
  while (const std::optional<ManifestEntry> entry = TRY(entries.next())) {
    if (entry->key == ManifestKey::file && manifest.consumes(entry->text)) bytes += entry->number;
  }
  return bytes;
}

// The large files, whose paths are unescaped into `paths`.
struct Segments {
  std::array<Path, most_segments> paths;
  std::array<ImageSegment, most_segments> files;
  std::size_t count = 0;
};

Result<void> collect_segments(const Manifest& manifest, const CastImage& image, Segments& segments) {
  ManifestReader entries = manifest.entries();
  while (const std::optional<ManifestEntry> entry = TRY(entries.next())) {
    if (entry->key != ManifestKey::file) continue;
    if (entry->index >= image.segments.size() || entry->number > image.segments[entry->index].bytes ||
        segments.count == most_segments) {
      return Error::of(ErrorCode::corrupt, "expected a file within the image's ", image.segments.size(),
                       " segments, found ", entry->number, " bytes of segment ", entry->index);
    }
    Path& path = segments.paths[segments.count];
    path = TRY(path_of(entry->text));
    segments.files[segments.count++] = {path.view(), image.segments[entry->index].begin, entry->number, entry->mode,
                                        manifest.consumes(entry->text)};
  }
  return {};
}

// What subsystems offer, and the log. Not inlined: its list is not to lie below all that follows.
[[gnu::noinline]] Result<Grants> choose_devices(Kernel& kernel, const Manifest& manifest, LogDevice& log_device) {
  ProgramDevices offered = kernel.program_devices;
  if (!offered.add({LogDevice::right, &log_device, make_device_number(LogDevice::major, LogDevice::minor)})) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", most_program_devices, " devices, found more");
  }
  return read_grants(manifest, offered.all(), kernel.socket_families.all());
}

// Stages of the start: none inside another's frame, for each holds errors of several hundred bytes, and a kernel's
// stack is small.
Result<void> build_tree(Kernel& kernel, Process& process, RunningProcessReport& report, const Manifest& manifest,
                        const CastImage& image, const Grants& grants) {
  Owned<Segments> segments = TRY(make_owned<Segments>(kernel.memory->heap()));
  TRY(collect_segments(manifest, image, *segments));
  ProcessFiles& files = process.files();
  TRY(files.build({.archives = image.bundle.begin,
                   .archive_bytes = image.bundle.bytes,
                   .hidden = manifest_path,
                   .initrds = kernel.boot_info.loaders_modules(),
                   .segments = std::span(segments->files).first(segments->count),
                   .tmpfs_bytes = manifest.tmpfs.value_or(0),
                   .system = &kernel.machine_report,
                   .process = &report,
                   .random = &kernel.random,
                   .console = kernel.console,
                   .devices = grants.devices.all(),
                   .families = grants.families}));
  const Path directory = TRY(path_of(manifest.directory));
  TRY(files.enter(directory.view()));
  if (kernel.console == nullptr) return {};
  return files.open_standard_files();
}

Result<void> add_texts(Kernel& kernel, const Manifest& manifest, InitialStack& stack) {
  TRY(each_argument(manifest, kernel.boot_info.command_line.view(),
                    [&](const auto& text) { return stack.add_argument(text); }));
  return each_environment(manifest, [&](const auto& text) { return stack.add_environment(text); });
}

Result<void> add_facts(Kernel& kernel, const Executable& executable, std::string_view path, InitialStack& stack) {
  const LoadedProgram& program = executable.program;
  std::array<std::byte, 16> random{};
  kernel.random.fill(random);
  const VirtualAddress name = TRY(stack.add_text(path));
  const VirtualAddress platform = TRY(stack.add_text("x86_64"));
  const VirtualAddress random_bytes = TRY(stack.add_bytes(random));
  const struct {
    AuxiliaryKey key;
    std::uint64_t value;
  } facts[] = {
      {AuxiliaryKey::processor_features, arch::cpuid(1).edx},
      {AuxiliaryKey::bytes_of_page, page_bytes},
      {AuxiliaryKey::clock_ticks, 100},
      {AuxiliaryKey::program_headers, program.program_headers.value()},
      {AuxiliaryKey::program_header_bytes, sizeof(ElfSegment)},
      {AuxiliaryKey::program_header_count, program.program_header_count},
      {AuxiliaryKey::interpreter_base, executable.interpreter_base().value()},
      {AuxiliaryKey::flags, 0},
      {AuxiliaryKey::entry, program.entry.value()},
      {AuxiliaryKey::user, 0},
      {AuxiliaryKey::effective_user, 0},
      {AuxiliaryKey::group, 0},
      {AuxiliaryKey::effective_group, 0},
      {AuxiliaryKey::secure, 0},
      {AuxiliaryKey::random_bytes, random_bytes.value()},
      {AuxiliaryKey::more_processor_features, 0},
      {AuxiliaryKey::program_name, name.value()},
      {AuxiliaryKey::platform, platform.value()},
      {AuxiliaryKey::least_signal_stack, arch::signal_frame_bytes(arch::vector_parts())},
  };
  for (const auto& fact : facts) TRY(stack.add_fact(fact.key, fact.value));
  return {};
}

// The current thread uses the program's address space.
Result<VirtualAddress> make_stack(Kernel& kernel, Process& process, RunningProcessReport& report,
                                  const Manifest& manifest, const Executable& executable, std::string_view path,
                                  Vdso& vdso) {
  Allocator& heap = kernel.memory->heap();
  const Answer<VirtualAddress> bottom =
      process.memory().map({.bytes = first_stack_bytes,
                            .access = Access::read | Access::write,
                            .purpose = RegionPurpose::stack,
                            .guard_bytes = page_bytes,
                            .address = process.memory().draw(program_places::first_stack)});
  if (!bottom.ok()) return Error::of(ErrorCode::out_of_memory, "expected room for a stack, found none");
  report.set_stack(bottom.value());
  struct Room {
    std::array<std::byte, argument_bytes> bytes;
  };
  Owned<Room> room = TRY(make_owned<Room>(heap));
  // Not at the very top: what is left there differs from boot to boot.
  const VirtualAddress top = bottom.value() + first_stack_bytes - kernel.random.number() % 256 * 16;
  Owned<InitialStack> stack = TRY(make_owned<InitialStack>(heap, std::span<std::byte>(room->bytes), top));
  TRY(add_texts(kernel, manifest, *stack));
  TRY(add_facts(kernel, executable, path, *stack));
  const Answer<VirtualAddress> kernel_object = vdso.map(process.memory());
  if (!kernel_object.ok()) return Error::of(ErrorCode::out_of_memory, "expected room for the vDSO, found none");
  TRY(stack->add_fact(AuxiliaryKey::kernel_object, kernel_object.value().value()));
  report.set_auxiliary_vector(stack->facts());
  const VirtualAddress pointer = TRY(stack->finish());
  TRY(copy_to_user(pointer, stack->contents().data(), stack->contents().size()));
  return pointer;
}

Result<void> start_program(Kernel& kernel, Process& process, RunningProcessReport& report, const Manifest& manifest,
                           Vdso& vdso) {
  const Path path = TRY(path_of(manifest.program));
  const Executable executable = TRY(load_executable(process, path.view()));
  const VirtualAddress stack = TRY(make_stack(kernel, process, report, manifest, executable, path.view(), vdso));
  UserThread* thread = TRY(process.add_thread(arch::first_frame(executable.first_instruction(), stack), {}));
  path.view().substr(path.view().rfind('/') + 1).copy(thread->name.data(), thread->name.size() - 1);
  process.start(*thread);
  return {};
}

// Keys that are signals: they come in an interrupt, so what they send is there beforehand.
class SignalKeys final : public TerminalListener {
 public:
  SignalKeys(Terminal& terminal, Process& process) : terminal_(terminal), process_(process) {
    terminal_.set_listener(this);
  }
  SignalKeys(const SignalKeys&) = delete;
  SignalKeys& operator=(const SignalKeys&) = delete;
  ~SignalKeys() {
    terminal_.set_listener(nullptr);
    for (QueuedSignal* key : {&interrupt_, &quit_, &suspend_}) process_.withdraw(*key);
  }

  void terminal_signal(TerminalSignal signal) override {
    if (signal == TerminalSignal::interrupt) process_.post(interrupt_);
    if (signal == TerminalSignal::quit) process_.post(quit_);
    if (signal == TerminalSignal::suspend) process_.post(suspend_);
  }

 private:
  static SignalInformation by_key(Signal signal) { return SignalInformation::of(signal, signal_code::by_kernel); }

  Terminal& terminal_;
  Process& process_;
  QueuedSignal interrupt_{by_key(Signal::interrupt), nullptr}, quit_{by_key(Signal::quit), nullptr},
      suspend_{by_key(Signal::terminal_stop), nullptr};
};

// The power button is SIGTERM, sent as those are.
class ButtonSignal final : public PowerButtonListener {
 public:
  ButtonSignal(PowerButton& button, Process& process) : button_(button), process_(process) {
    button_.set_listener(this);
  }
  ButtonSignal(const ButtonSignal&) = delete;
  ButtonSignal& operator=(const ButtonSignal&) = delete;
  ~ButtonSignal() {
    button_.set_listener(nullptr);
    process_.withdraw(signal_);
  }

  void power_button_pressed() override { process_.post(signal_); }

 private:
  PowerButton& button_;
  Process& process_;
  QueuedSignal signal_{SignalInformation::of(Signal::terminate, signal_code::by_kernel), nullptr};
};

// What sockets hold is the program's, as long as it is there.
class SocketCharge {
 public:
  SocketCharge(const SocketFamilies& families, ProgramAccount& account) : families_(families) { charge(&account); }
  SocketCharge(const SocketCharge&) = delete;
  SocketCharge& operator=(const SocketCharge&) = delete;
  ~SocketCharge() { charge(nullptr); }

 private:
  void charge(ProgramAccount* account) const {
    for (const SocketFamily& family : families_.all()) family.maker->charge_to(account);
  }
  const SocketFamilies& families_;
};

void log_memory(Kernel& kernel, Process& process) {
  const ProgramAccount& account = process.memory().account();
  kernel.log.information("program: ", process.space().statistics().faults, " page faults; at most ",
                         account.resident().peak() >> 10, " KiB of its own, ", account.charges().peak() >> 10,
                         " KiB charged");
}

}  // namespace

Result<Manifest> manifest_of(Kernel& kernel) {
  const CpioEntry entry = TRY(find_in_cpio(bytes_of(kernel, kernel.boot_info.image()->bundle), manifest_path));
  return Manifest::parse({reinterpret_cast<const char*>(entry.content.data()), entry.content.size()});
}

Result<int> run_image(Kernel& kernel) {
  TRY(kernel.system_calls.fill());
  kernel.machine_report.start();
  Owned<Terminal> terminal = TRY(make_owned<Terminal>(kernel.memory->heap(), kernel));
  if (const Result<void> started = terminal->start(); !started.ok()) {
    kernel.log.warning("terminal: ", started.error());
  }
  kernel.console = &*terminal;
  const CastImage image = *kernel.boot_info.image();
  const Manifest manifest = TRY(manifest_of(kernel));
  LogDevice log_device(kernel.log, kernel.memory->heap());
  const Grants grants = TRY(choose_devices(kernel, manifest, log_device));
  TRY(trace_if_wanted(kernel, manifest));
  const std::uint64_t limit = manifest.memory.value_or(TRY(most_memory(kernel, manifest)));
  Owned<Vdso> vdso = TRY(Vdso::create(kernel));
  Owned<Process> process = TRY(Process::create(kernel, limit, grants.writable_code));
  const SocketCharge sockets(grants.families, process->memory().account());
  if (manifest.descriptors) process->limit_descriptors(static_cast<std::uint32_t>(*manifest.descriptors));
  const SignalKeys keys(*terminal, *process);
  RunningProcessReport report(*process, manifest, kernel.boot_info.command_line.view());
  TRY(report.set_executable(manifest.program));
  TRY(build_tree(kernel, *process, report, manifest, image, grants));
  use_address_space(&process->space());
  const Result<void> started = start_program(kernel, *process, report, manifest, *vdso);
  use_address_space(nullptr);
  TRY(started);
  const ButtonSignal button(kernel.devices.power_button(), *process);  // now that there is a thread to be told
  kernel.memory->fail_heap_every(
      command_line_number(kernel.boot_info.command_line.view(), "fail-allocations").value_or(0));
  const int status = process->run();
  kernel.memory->fail_heap_every(0);
  log_memory(kernel, *process);
  return status;
}

}  // namespace ingot::os
