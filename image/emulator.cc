#include "image/emulator.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/image/boot_arguments.h"
#include "base/image/image_manifest.h"
#include "base/units.h"
#include "image/bytes.h"
#include "image/cast_checks.h"
#include "image/cpio_writer.h"
#include "image/emulator_button.h"
#include "image/kernel_image.h"
#include "image/preflight.h"
#include "image/process.h"

namespace ingot::image {

namespace {

constexpr const char* emulator = "qemu-system-x86_64";
constexpr std::uint64_t default_memory = 512 << 20;
constexpr std::size_t kept_lines = 64, longest_line = 4096;

// The arguments as the kernel reads them, behind what its loader says.
Result<std::string> with_arguments(std::string line, const BootRequest& request) {
  if (!request.arguments.empty()) line += line.empty() ? "--" : " --";
  for (const std::string& argument : request.arguments) {
    line += ' ';
    encode_argument(argument, [&](char character) { line += character; });
  }
  if (line.size() <= command_line_capacity) return line;
  return Error::of(ErrorCode::invalid_argument, "expected arguments of at most ", command_line_capacity,
                   " characters on the kernel's command line, found ", line.size(), ": cast them with --arg");
}

Result<std::string> command_line_of(const BootRequest& request) {
  std::string line = "debug-exit";
  for (const std::string& option : request.options) line += ' ' + option;
  return with_arguments(std::move(line), request);
}

// By the CPU's own virtualisation: a guest of ours uses instructions that software in its place (kvm_pvm) cannot run,
// and the emulator then waits for ever. On another architecture KVM has other guests.
bool can_use_kvm() {
#if defined(__x86_64__)
  std::ifstream facts("/proc/cpuinfo");
  std::string line;
  while (std::getline(facts, line) && !line.starts_with("flags")) {
  }
  line += ' ';
  if (line.find(" vmx ") == std::string::npos && line.find(" svm ") == std::string::npos) return false;
  const int descriptor = ::open("/dev/kvm", O_RDWR | O_CLOEXEC);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
#else
  return false;
#endif
}

constexpr const char* firmware_code = "/usr/share/OVMF/OVMF_CODE_4M.fd";
constexpr const char* firmware_variables = "/usr/share/OVMF/OVMF_VARS_4M.fd";

EmulatorHost this_machine() {
  EmulatorHost host;
  host.has_kvm = can_use_kvm();
  host.has_terminal = ::isatty(STDIN_FILENO) == 1;
  host.firmware = firmware_code;
  host.firmware_variables = firmware_variables;
#if !defined(__x86_64__)
  host.reorders_stores = true;
#endif
  return host;
}

Result<void> copy_firmware(const TemporaryFolder& folder, EmulatorHost& host) {
  std::error_code problem;
  host.firmware_variables = folder.path() + "/variables.fd";
  if (std::filesystem::exists(firmware_code, problem) &&
      std::filesystem::copy_file(firmware_variables, host.firmware_variables, problem)) {
    return {};
  }
  return Error::of(ErrorCode::not_found, "expected UEFI firmware at '", firmware_code, "', found none: install ovmf");
}

// On a smaller machine the image's own parts do not lie in memory, or the kernel has no room beside them.
Result<void> check_memory(const ImageTable& table, std::uint64_t initrd_bytes, std::uint64_t memory) {
  std::uint64_t end = table.bundle.address + table.bundle.bytes;
  for (std::size_t index = 0; index < table.segment_count; ++index) {
    end = std::max(end, table.segments[index].address + table.segments[index].bytes);
  }
  const std::uint64_t least = least_memory(end, initrd_bytes);
  if (memory >= least) return {};
  return Error::of(ErrorCode::out_of_memory, "--memory: expected at least ",
                   divide_rounding_up(static_cast<std::int64_t>(least), 1 << 20),
                   " MiB of memory for the image and the kernel, found ", memory >> 20, " MiB");
}

bool chooses_kvm(const BootRequest& request, const EmulatorHost& host) {
  return request.uses_kvm.value_or(host.has_kvm) && !request.counts_instructions;  // which KVM cannot
}

// As the emulator counts it.
std::uint64_t memory_mebibytes(const EmulatorPlan& plan) { return (plan.memory + (1 << 20) - 1) >> 20; }

// An accelerator comes as a PCI device, which a small machine has only when asked. The machine's memory is a file,
// which the broker has as well.
std::string machine_word(const EmulatorPlan& plan) {
  if (!plan.has_accelerator) return plan.machine;
  return plan.machine + (plan.has_pci() ? "" : ",pcie=on") + ",memory-backend=memory";
}

std::vector<std::string> accelerator_words(const EmulatorPlan& plan) {
  return {"-object",
          "memory-backend-file,id=memory,share=on,mem-path=/proc/self/fd/" + std::to_string(memory_descriptor) +
              ",size=" + std::to_string(memory_mebibytes(plan)) + "M",
          "-chardev",
          "socket,id=accelerator,fd=" + std::to_string(accelerator_descriptor),
          "-device",
          "ivshmem-doorbell,chardev=accelerator,vectors=2"};
}

// One processor alone is emulated without fences, which an accelerator's other side would miss.
bool runs_side_by_side(const EmulatorPlan& plan, const EmulatorHost& host, bool kvm) {
  return plan.has_accelerator && host.reorders_stores && !kvm;
}

std::uint64_t cpus_of(const EmulatorPlan& plan, const EmulatorHost& host, bool kvm) {
  return runs_side_by_side(plan, host, kvm) ? std::max<std::uint64_t>(plan.cpus, 2) : plan.cpus;
}

Result<void> check_accelerator(const Manifest& manifest, bool is_asked_for) {
  const bool is_granted = manifest.grants("accelerator");
  if (is_granted == is_asked_for) return {};
  if (is_granted) {
    return Error::of(ErrorCode::invalid_argument,
                     "--device: expected accelerator, or accelerator:SOCKET, for an image with 'grant accelerator', "
                     "found none: `ingot boot IMAGE --device accelerator` starts one for it");
  }
  return Error::of(
      ErrorCode::invalid_argument,
      "--device: expected an image that was cast with --grant accelerator, found one whose program may not "
      "use an accelerator: cast it anew");
}

Result<void> check_ports_are_free(const BootRequest& request) {
  for (const PublishedPort& port : request.network.ports) TRY(check_port_is_free("--publish", port));
  return request.waits_for_debugger ? check_port_is_free("--gdb", debugger_port()) : Result<void>();
}

// What the emulator would find wrong with this machine once it has begun, and say in words of its own.
Result<void> check_host(const BootRequest& request, const EmulatorHost& host) {
  if (!find_program(emulator)) {
    return Error::of(ErrorCode::not_found, "expected the program ", emulator, ", found none: install qemu-system-x86");
  }
  if (request.uses_kvm.value_or(false) && !host.has_kvm) {
    return Error::of(ErrorCode::unsupported,
                     "--accelerator: expected /dev/kvm and a CPU that virtualises, found none: tcg emulates one");
  }
  TRY(check_ports_are_free(request));
  if (!request.network.tap.empty()) TRY(find_tap(request.network.tap));
  return {};
}

// What is asked of the machine, and what the manifest grants the program on it.
Result<void> plan_by_manifest(const BootRequest& request, EmulatorPlan& plan) {
  const OpenedImage opened = TRY(open_image(request.image));
  const std::string_view text = TRY(first_member(opened.bundle, ImageTable::manifest_path));
  const Manifest manifest = TRY(Manifest::parse(text));
  plan.memory = manifest.machine_memory.value_or(plan.memory);
  plan.cpus = manifest.machine_cpus.value_or(1);
  const bool needs_pci = manifest.grants("pci");
  if (needs_pci && request.machine == "microvm") {
    return Error::of(ErrorCode::invalid_argument,
                     "--machine: expected q35 for an image with 'grant pci', found microvm, which has none");
  }
  plan.machine = !request.machine.empty() ? request.machine : needs_pci ? "q35" : "microvm";
  TRY(check_accelerator(manifest, plan.has_accelerator));
  if (manifest.grants("network")) {
    plan.network = TRY(network_settings_of(manifest));
  } else if (request.network.is_asked_for()) {
    return Error::of(
        ErrorCode::invalid_argument,
        "--publish, --tap and --pcap: expected an image that was cast with --grant network, found one whose "
        "program may not use a network");
  }
  std::uint64_t initrd_bytes = 0;
  if (!request.initrd.empty()) initrd_bytes = TRY(Content::of_file(request.initrd)).size();
  return check_memory(opened.table, initrd_bytes, request.memory.value_or(plan.memory));
}

// A disk's manifest lies within its file system, and is not looked at: what is asked for is there.
Result<void> plan_disk(const BootRequest& request, EmulatorPlan& plan) {
  const auto refuse = [](std::string_view option, std::string_view found, std::string_view why) {
    return Error::of(ErrorCode::invalid_argument, "expected no ", option, " at boot for a disk or disc, ", why,
                     ", found '", found, "'");
  };
  if (!request.options.empty()) {
    return refuse("--option", request.options.front(), "whose loader has its own command line: cast it with --option");
  }
  if (!request.initrd.empty()) return refuse("--initrd", request.initrd, "whose loader brings its own: cast an elf");
  if (request.machine == "microvm") return refuse("--machine", request.machine, "whose firmware needs q35");
  plan.machine = "q35";
  if (request.network.is_asked_for()) plan.network.emplace().version_4.source = AddressSettings::Source::automatic;
  // GRUB and the firmware hold the image a second time while they load it.
  const Content whole = TRY(Content::of_file(request.image));
  plan.memory = std::max(plan.memory, 2 * whole.size() + (256 << 20));
  return {};
}

// What comes of a signal to end.
std::string_view words_for_signal(int times) {
  if (times == 1)
    return "told to end: the power button is pressed, and the program may finish. Once more ends the machine";
  if (times == 2)
    return "told to end again: the machine is switched off, whatever its program does. Once more kills it";
  return "told to end once more: the emulator is killed";
}

// Where the kernel did not say how the program ended.
Error end_without_exit_code(const KernelLog& log, const ProcessEnd& end, int told_to_end) {
  constexpr ErrorCode code = ErrorCode::input_output;
  if (told_to_end > 1) {
    return Error::of(code, "expected the program to end by the power button, found ", told_to_end,
                     " signals: the last of them ended the machine");
  }
  if (!log.panic().empty()) {
    return Error::of(code, "expected a last line 'exit N' from the kernel, found '", shortened(log.panic()), "'");
  }
  return Error::of(code, "expected a last line 'exit N' from the kernel, found none; ", emulator, " ended with status ",
                   end.status);
}

}  // namespace

PublishedPort debugger_port() { return {.host = "0.0.0.0", .port = 1234, .guest_port = 0}; }

Result<ImageFormat> format_of_image(const std::string& path) {
  constexpr std::uint64_t needed = 33 << 10, disc_mark = 32769;
  const Content content = TRY(Content::of_file(path));
  const Content head = TRY(content.part(0, std::min(content.size(), needed)));
  const std::string bytes = TRY(head.read(needed));
  if (ElfFile::looks_like(bytes)) return ImageFormat::elf;
  if (bytes.size() > 520 && bytes.compare(512, 8, "EFI PART") == 0) return ImageFormat::disk;
  if (bytes.size() > disc_mark + 5 && bytes.compare(disc_mark, 5, "CD001") == 0) return ImageFormat::iso;
  return Error::of(ErrorCode::corrupt,
                   "expected an image that `ingot cast` made (ELF, disk or disc), found another "
                   "kind of file: '",
                   shortened(path), "'");
}

Result<EmulatorPlan> plan_boot(const BootRequest& request) {
  EmulatorPlan plan;
  plan.format = TRY(format_of_image(request.image));
  plan.memory = default_memory;
  plan.has_accelerator = static_cast<bool>(request.accelerator);
  TRY(plan.format == ImageFormat::elf ? plan_by_manifest(request, plan) : plan_disk(request, plan));
  if (plan.network) TRY(check_network(request.network, *plan.network));
  plan.memory = request.memory.value_or(plan.memory);
  plan.cpus = request.cpus.value_or(plan.cpus);
  const Result<void> usable = check_cpus(plan.cpus);
  if (usable.ok()) return plan;
  return request.cpus ? usable.error().within("--cpus") : usable.error().within("the image's manifest");
}

Result<std::vector<std::string>> emulator_words(const BootRequest& request, const EmulatorPlan& plan,
                                                const EmulatorHost& host) {
  std::vector<std::string> words = {emulator, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"};
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  const bool kvm = chooses_kvm(request, host);
  const bool is_side_by_side = runs_side_by_side(plan, host, kvm);
  if (is_side_by_side && request.counts_instructions) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --icount or --device accelerator, found both on a processor that reorders stores: "
                     "counting instructions, the emulator keeps no fences");
  }
  add({"-machine", machine_word(plan)});
  add({"-accel", kvm ? "kvm" : is_side_by_side ? "tcg,thread=multi" : "tcg", "-cpu", kvm ? "host" : "max"});
  const std::uint64_t cpus = cpus_of(plan, host, kvm);
  add({"-m", std::to_string(memory_mebibytes(plan)) + "M", "-smp", std::to_string(cpus)});
  switch (plan.format) {
    case ImageFormat::elf: {
      const std::string command_line =
          TRY(command_line_of(request));  // not within the list: leaving it there would leak
      add({"-kernel", request.image, "-append", command_line});
      if (!request.initrd.empty()) add({"-initrd", request.initrd});
      break;
    }
    case ImageFormat::disk:
      add({"-drive", "if=pflash,format=raw,unit=0,readonly=on,file=" + option_value(host.firmware)});
      add({"-drive", "if=pflash,format=raw,unit=1,file=" + option_value(host.firmware_variables)});
      add({"-drive", "if=none,id=disk,format=raw,snapshot=on,file=" + option_value(request.image)});
      add({"-device", "virtio-blk-pci,drive=disk,bootindex=0"});
      break;
    case ImageFormat::iso: add({"-cdrom", request.image}); break;
  }
  if (plan.format != ImageFormat::elf && !request.arguments.empty()) {
    const std::string arguments = TRY(with_arguments("", request));
    add({"-fw_cfg", "name=opt/ingot/command-line,string=" + option_value(arguments)});
  }
  // On a terminal, Ctrl-A X ends the emulator, because Ctrl-C is the guest's. A pipe's bytes all reach the guest.
  add({"-chardev", host.has_terminal ? "stdio,id=console,signal=off,mux=on" : "stdio,id=console,signal=off"});
  add({"-serial", "chardev:console"});
  if (host.has_terminal) add({"-mon", "chardev=console,mode=readline"});
  add({"-chardev", "file,id=log,path=" + option_value(host.log)});
  add({"-device", "isa-debugcon,iobase=0xe9,chardev=log", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x4"});
  const auto append = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (plan.network) append(network_words(request.network, *plan.network, {plan.has_pci(), cpus}));
  if (plan.has_accelerator) append(accelerator_words(plan));
  if (host.button) append(button_words(*host.button));
  if (request.waits_for_debugger) add({"-s", "-S"});
  if (request.counts_instructions) {
    add({"-icount", "shift=0,sleep=off", "-rtc", "base=2024-01-01,clock=vm", "-seed", "1"});
  }
  return words;
}

Result<BootCommand> command_to_boot(const BootRequest& request) {
  BootCommand command;
  command.plan = TRY(plan_boot(request));
  TRY(check_ports_are_free(request));
  EmulatorHost host = this_machine();
  host.log = "/dev/stderr";  // who runs it has no pipe for it
  command.uses_kvm = chooses_kvm(request, host);
  command.words = TRY(emulator_words(request, command.plan, host));
  command.plan.cpus = cpus_of(command.plan, host, command.uses_kvm);
  return command;
}

void KernelLog::add(std::string_view piece) {
  for (const char character : piece) {
    if (character == '\n') {
      end_line();
    } else if (line_.size() < longest_line && character != '\r') {
      line_ += character;
    }
  }
}

void KernelLog::end_line() {
  constexpr std::string_view mark = "exit ";
  if (line_.starts_with(mark)) {
    int code = 0;
    const char* end = line_.data() + line_.size();
    const auto read = std::from_chars(line_.data() + mark.size(), end, code);
    if (read.ec == std::errc() && read.ptr == end && code >= 0 && code <= 255) exit_code_ = code;
  }
  if (panic_.empty() && line_.starts_with("panic: ")) panic_ = line_;
  if (line_ == "warning: power: expected to be off, found the machine running: halted") has_halted_ = true;
  if (line_.starts_with("power button: ready")) has_button_ = true;
  // What is longer than a line of the kernel's goes on in the next, behind two blanks.
  const bool goes_on = continues_error_ && line_.starts_with("  ");
  const bool is_error = line_.starts_with("error: ") && errors_.size() < kept_lines;
  if (goes_on) errors_.back().append(line_, 1);
  if (is_error) errors_.push_back(line_);
  continues_error_ = is_error || goes_on;
  lines_.push_back(std::move(line_));
  line_.clear();
  if (lines_.size() > kept_lines) lines_.pop_front();
}

Result<int> boot(const BootRequest& request) {
  const EmulatorPlan plan = TRY(plan_boot(request));
  const TemporaryFolder folder = TRY(TemporaryFolder::create());
  EmulatorHost host = this_machine();
  if (plan.format == ImageFormat::disk) TRY(copy_firmware(folder, host));
  TRY(check_host(request, host));
  const EmulatorButton button = TRY(EmulatorButton::create());
  host.button = button_descriptor;
  KernelLog log;
  bool is_asked_to_end = false;
  int told_to_end = 0;  // times
  const auto press_when_ready = [&] {
    if (!is_asked_to_end || !log.has_button()) return;
    is_asked_to_end = false;
    button.press();
  };
  ProcessRequest process;
  process.inherited = {{button.emulators_end(), button_descriptor}};
  if (request.accelerator) {
    const AcceleratorEnds ends = TRY(request.accelerator(memory_mebibytes(plan) << 20));
    process.inherited.push_back({ends.connection, accelerator_descriptor});
    process.inherited.push_back({ends.memory, memory_descriptor});
  }
  process.asked_to_end = [&](int times) {
    told_to_end = times;
    if (request.tell) request.tell(words_for_signal(times));
    if (times > 1) return;
    is_asked_to_end = true;
    press_when_ready();
  };
  process.one_wish = std::chrono::seconds(1);
  process.has_own_group = !host.has_terminal;  // whose keys are the guest's: Ctrl-C is no signal there
  process.words = TRY(emulator_words(request, plan, host));
  process.channels.push_back({log_descriptor, [&](std::string_view piece) {
                                log.add(piece);
                                press_when_ready();
                                if (request.shows_log) std::fwrite(piece.data(), 1, piece.size(), stderr);
                              }});
  process.has_enough = [&] { return log.has_halted(); };
  EscapeFilter filter(request.escape_codes);
  if (request.escape_codes != EscapeCodes::all) {
    process.channels.push_back({STDOUT_FILENO, [&](std::string_view piece) {
                                  const std::string text = filter.pass(piece);
                                  std::fwrite(text.data(), 1, text.size(), stdout);
                                  std::fflush(stdout);
                                }});
  }
  const ProcessEnd end = TRY(run_process(process));
  if (log.exit_code()) {
    // Without its log a kernel that could not begin the program would end without a word.
    for (const std::string& line : log.errors()) {
      if (!request.shows_log) std::fprintf(stderr, "%s\n", line.c_str());
    }
    return *log.exit_code();
  }
  if (!request.shows_log && told_to_end < 2) {
    for (const std::string& line : log.last_lines()) std::fprintf(stderr, "%s\n", line.c_str());
  }
  return end_without_exit_code(log, end, told_to_end);
}

}  // namespace ingot::image
