#include <memory>
#include <nlohmann/json.hpp>

#include "cli/guest_accelerator.h"
#include "cli/image_options.h"
#include "cli/manifest_checks.h"
#include "cli/terminal.h"
#include "image/build_products.h"
#include "image/cast_checks.h"
#include "image/content.h"
#include "image/emulator.h"
#include "image/process.h"
#include "machine/accelerator/accelerator_device.h"

namespace ingot::boot_command {
namespace {

constexpr const char* examples =
    "Boots an image in QEMU, with this terminal as its console; the program's exit code becomes this command's. "
    "Without\n"
    "IMAGE, the model that this program carries is cast and booted. Arguments behind -- take the place of those that "
    "the\n"
    "image was cast with. On a terminal, Ctrl-A X switches the machine off; Ctrl-C goes to the program. A file or a "
    "pipe\n"
    "gets the console's text without escape codes; with NO_COLOR, a terminal gets it without colours.\n"
    "SIGTERM and SIGINT press the machine's power button, which is a SIGTERM to the program; a second one, a second "
    "later\n"
    "or more, switches the machine off, and a third kills the emulator. What comes of each is said.\n"
    "\n"
    "Examples:\n"
    "  ingot boot model.img\n"
    "  ingot boot -- run -p \"Once there was\"\n"
    "  ingot boot model.img --cpus 4 --memory 1G --log\n"
    "  ingot boot model.disk -- run -p \"Once\"            disks and discs take arguments, too\n"
    "  ingot boot model.img --icount -- run -n 1          every run the same, to the instruction\n"
    "  ingot boot model.img --dry-run                     the emulator's command line, to run or change it yourself\n"
    "  ingot boot serve.img --publish 8080:8080           127.0.0.1:8080 leads to the guest's 8080; 0.0.0.0:8080:8080: "
    "any\n"
    "  ingot boot serve.img --tap tap0 --pcap frames.pcap\n"
    "  ingot boot serve.img --initrd secrets.cpio         files for the program that the image does not hold\n"
    "  ingot boot model.img --device accelerator          contracts run on this machine, not in the emulator: of an "
    "image\n"
    "                                                     that was cast with --grant accelerator\n"
    "  ingot boot model.img --device accelerator:/tmp/gpu by what `ingot accelerator --socket /tmp/gpu` serves\n"
    "  ingot boot model.img --gdb                         waits for a debugger at localhost:1234";

struct Options {
  image::BootRequest boot;
  std::string architecture = "x86_64", accelerator = "auto";
  std::string device;
  ProductOptions products;
  std::vector<std::string> published;
  bool dry_run = false, json = false;
};

// As a shell would need it.
std::string quoted(const std::string& word) {
  if (!word.empty() &&
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,./:") ==
          std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

int print_command(const Options& options, const image::BootCommand& command) {
  if (options.json) {
    constexpr const char* formats[] = {"elf", "disk", "iso"};
    const nlohmann::json document = {
        {"image", options.boot.image},     {"format", formats[static_cast<int>(command.plan.format)]},
        {"memory", command.plan.memory},   {"cpus", command.plan.cpus},
        {"machine", command.plan.machine}, {"accelerator", command.uses_kvm ? "kvm" : "tcg"},
        {"command", command.words}};
    std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return exit_success;
  }
  std::string line;
  for (const std::string& word : command.words) line += (line.empty() ? "" : " ") + quoted(word);
  std::printf("%s\n", line.c_str());
  return exit_success;
}

image::EscapeCodes escape_codes() {
  if (!is_terminal(stdout)) return image::EscapeCodes::none;
  return wants_colours() ? image::EscapeCodes::all : image::EscapeCodes::no_colours;
}

Result<int> run(Options& options) {
  options.boot.escape_codes = escape_codes();
  options.boot.tell = print_note;
  std::optional<GuestAccelerator> accelerator;
  if (!options.device.empty()) {
    accelerator.emplace(accelerator_path(options.device).value());  // as was checked
    options.boot.accelerator = [&](std::uint64_t memory) { return accelerator->begin(memory); };
  }
  std::optional<image::TemporaryFolder> folder;
  if (options.boot.image.empty()) {
    folder.emplace(TRY(image::TemporaryFolder::create()));
    image::CastRequest request;
    request.output = folder->path() + "/ingot.img";
    request.environment = {"HOME=/"};
    if (accelerator) request.rights.push_back("accelerator");
    TRY(add_engine(options.products, "", request));
    request.kernels = TRY(kernels_of(options.products));
    request.progress = cast_progress();
    TRY(image::cast(request));
    options.boot.image = request.output;
  }
  const Result<image::BootCommand> planned = image::command_to_boot(options.boot);
  if (!planned.ok()) {
    // Options that do not go with the image are bad usage, an image that cannot be read is none.
    if (planned.error().code() == ErrorCode::invalid_argument) return refuse_usage(planned.error());
    return planned.error();
  }
  const image::BootCommand& command = planned.value();
  if (options.dry_run) {
    if (accelerator) {
      print_note("`ingot boot` itself makes descriptor " + std::to_string(image::accelerator_descriptor) +
                 ", a connection to a broker on which the machine's memory was handed over, and " +
                 std::to_string(image::memory_descriptor) + ", that memory");
    }
    return print_command(options, command);
  }
  // Who waits at a terminal should know why.
  if (!command.uses_kvm && is_terminal(stderr)) {
    print_note("emulated, without KVM: far slower than the machine itself");
  }
  for (const image::PublishedPort& port : options.boot.network.ports) {
    if (!is_terminal(stderr)) break;
    print_note("port " + std::to_string(port.guest_port) + " of the machine is " + port.host + ":" +
               std::to_string(port.port) + " here");
  }
  if (options.boot.waits_for_debugger) {
    print_note("waiting for a debugger: gdb, then: target remote localhost:1234");
  }
  return image::boot(options.boot);
}

Result<void> check_accelerator_device(const std::string& name) {
  if (accelerator_path(name).has_value()) return {};
  return Error::of(ErrorCode::invalid_argument, "expected accelerator or accelerator:SOCKET, found '",
                   std::string_view(name), "'");
}

Result<void> check_published(const std::string& text) {
  TRY(image::parse_published_port(text));
  return {};
}

Result<void> check_image_and_products(const Options& options) {
  const bool has_image = !options.boot.image.empty();
  if (options.dry_run && !has_image) {
    return Error::of(ErrorCode::invalid_argument, "expected an IMAGE with --dry-run, found none: ingot cast makes one");
  }
  if (options.boot.network.is_asked_for() && !has_image) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected an IMAGE with --publish, --tap and --pcap, found none: ingot cast --serve makes one");
  }
  if (has_image && (!options.products.kernel.empty() || !options.products.engine.empty())) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --kernel and --engine without IMAGE, found them beside one, which has its own: cast "
                     "another with them");
  }
  return {};
}

Result<void> check_files(const image::BootRequest& boot) {
  if (!boot.initrd.empty()) {
    const Result<image::Content> initrd = image::Content::of_file(boot.initrd);
    if (!initrd.ok()) return initrd.error().within("--initrd");
  }
  if (boot.network.capture.empty()) return {};
  const Result<void> is_free = image::check_output(boot.network.capture, {boot.image, boot.initrd});
  return is_free.ok() ? Result<void>() : is_free.error().within("--pcap");
}

Result<void> check_usage(const Options& options) {
  TRY(check_image_and_products(options));
  TRY(check_files(options.boot));
  std::vector<image::PublishedPort> ports = options.boot.network.ports;
  if (options.boot.waits_for_debugger) ports.push_back(image::debugger_port());
  if (const Result<void> differ = image::check_ports_differ(ports); !differ.ok()) {
    return differ.error().within(options.boot.waits_for_debugger ? "--publish and --gdb" : "--publish");
  }
  if (options.boot.counts_instructions && options.accelerator == "kvm") {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --icount or --accelerator kvm, found both: only emulated instructions are counted");
  }
  if (options.boot.counts_instructions && !options.device.empty()) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --icount or --device, found both: the machine's time follows its instructions then, and "
                     "an accelerator's does not");
  }
  if (!options.published.empty() && !options.boot.network.tap.empty()) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --publish or --tap, found both: on an interface of this machine the guest has an "
                     "address of its own, which is asked at its own port");
  }
  return {};
}

void add_network_options(const Command& command, Options& options) {
  command.add_option("--machine", options.boot.machine, "microvm or q35; else by what the image was granted")
      .check(one_of({"microvm", "q35"}));
  command.add_option("--initrd", options.boot.initrd, "a cpio archive whose files join the image's, or any one file")
      .check(as_file());
  command
      .add_option("--publish", options.published,
                  "[HOST:]PORT:GUEST_PORT: a port of this machine, of 127.0.0.1 unless said, that leads to the "
                  "guest's; may be repeated")
      .check(accepted_by("", check_published))
      .one_word_each_time();
  command.add_option("--tap", options.boot.network.tap, "an interface of this machine as the guest's network")
      .check(accepted_by("", image::check_interface_name));
  command.add_option("--pcap", options.boot.network.capture, "a file for all that passes over the guest's network")
      .check(accepted_by("", image::check_capture));
}

}  // namespace

void add(const Command& application, const std::vector<std::string>& program_arguments, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("boot", "boot an image in an emulator");
  command.footer(examples);
  command.add_option("IMAGE", options->boot.image, "what `ingot cast` wrote; else the model inside this program")
      .check(as_file());
  command.add_option("--arch", options->architecture, "the machine's architecture")
      .check(one_of({"x86_64"}))
      .capture_default_str();
  command.add_option("--cpus", options->boot.cpus, "processors; else what the image was cast for").check(as_cpus());
  command.add_option("--memory", options->boot.memory, "memory; else what the image was cast for")
      .transform(as_bytes());
  command.add_option("--option", options->boot.options, "a word for the kernel's own command line")
      .check(accepted_by("", check_kernel_word))
      .one_word_each_time();
  command.add_option("--accelerator", options->accelerator, "kvm, tcg (emulation), or auto: kvm where it can be used")
      .check(one_of({"auto", "kvm", "tcg"}))
      .capture_default_str();
  command
      .add_option("--device", options->device,
                  "accelerator: contracts run on this machine, by a broker that is started for it; or "
                  "accelerator:SOCKET, by one that listens there")
      .check(accepted_by("", check_accelerator_device));
  command.add_flag("--gdb", options->boot.waits_for_debugger, "wait for a debugger before the first instruction");
  command.add_flag("--icount", options->boot.counts_instructions, "count instructions: runs repeat exactly");
  const Option dry_run =
      command.add_flag("--dry-run", options->dry_run, "print the emulator's command line, start nothing");
  command.add_flag("--json", options->json, "the same, machine-readable").needs(dry_run);
  command.add_flag("--log", options->boot.shows_log, "the kernel's log on standard error");
  add_network_options(command, *options);
  add_product_options(command, options->products);
  command.callback([options, &program_arguments, &exit_code] {
    options->boot.arguments = program_arguments;
    for (const std::string& port : options->published) {
      options->boot.network.ports.push_back(image::parse_published_port(port).value());  // as was checked
    }
    if (options->accelerator != "auto") options->boot.uses_kvm = options->accelerator == "kvm";
    if (const Result<void> usable = check_usage(*options); !usable.ok()) {
      exit_code = refuse_usage(usable.error());
      return;
    }
    const Result<int> ended = run(*options);
    exit_code = ended.ok() ? ended.value() : exit_failure;
    if (!ended.ok()) print_error(ended.error().text());
  });
}

}  // namespace ingot::boot_command
