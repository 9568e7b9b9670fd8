#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/cast_options.h"
#include "cli/manifest_checks.h"
#include "cli/server_image.h"
#include "cli/terminal.h"
#include "image/added_files.h"
#include "image/build_products.h"
#include "image/oci_image.h"
#include "image/output_file.h"
#include "image/program.h"

namespace ingot::cast_command {
namespace {

constexpr const char* examples =
    "Casts a model, a Linux program or an OCI image into one bootable file: Ingot's kernel, the program, its files and "
    "a\n"
    "manifest. Without MODEL, --program and --oci, the model that this program carries is cast.\n"
    "With --serve it becomes a machine that answers HTTP, as `ingot serve` does; --arg adds words to that command.\n"
    "With --format oci it becomes an image for containers instead, which serves the models; --arg replaces the whole\n"
    "command, --engine names an engine for another machine than this one. Options of a machine are refused then.\n"
    "\n"
    "Examples:\n"
    "  ingot cast model.gguf -o model.img                 boots and continues a text\n"
    "  ingot cast model.gguf -o chat.img --arg chat --arg /model.gguf\n"
    "  ingot cast model.gguf -o model.img --format disk   a raw disk that UEFI firmware boots\n"
    "  ingot cast --serve model.gguf -o serve.img --api-key-file keys.txt\n"
    "  ingot cast --serve chat.gguf embed.gguf -o serve.img --address 192.0.2.10/24,192.0.2.1,192.0.2.53\n"
    "  ingot cast --program ./server -o server.img --file site=/srv/site --arg=--port=80 --memory 256M\n"
    "  ingot cast --oci image.tar -o image.img            entrypoint, environment and layers of an OCI layout\n"
    "  ingot cast model.gguf -o server.tar --format oci   then: docker load -i server.tar\n"
    "  ingot boot model.img                               then boot it";

constexpr std::uint64_t server_descriptors = 65'536;  // a connection each

Result<void> check_folder(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {};
  return Error::of(ErrorCode::not_found, "expected a folder, found none at '", std::string_view(path), "'");
}

// A server that is to have an address of version 6 listens at both versions'.
Result<ServedModels> served_at(const std::vector<std::string>& addresses, ServedModels served) {
  const NetworkSettings settings = TRY(settings_of(addresses));
  if (settings.version_6.source != AddressSettings::Source::none) served.host = "::";
  return served;
}

// The program of an OCI image: by its path, from its directory, or by its PATH, as a shell would find it.
Result<std::string> find_in_root(const image::OciImage& oci, const std::string& name) {
  if (name.starts_with('/')) return name;
  if (name.find('/') != std::string::npos) return oci.directory + '/' + name;
  std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const std::string& entry : oci.environment) {
    if (entry.starts_with("PATH=")) path = entry.substr(5);
  }
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string candidate = path.substr(begin, end - begin) + '/' + name;
    if (oci.root.resolve(candidate).ok()) return candidate;
    begin = end + 1;
  }
  return Error::of(ErrorCode::not_found, "expected the program '", name, "' in the image's PATH, found none");
}

Result<void> add_oci(const Options& options, image::CastRequest& request) {
  image::OciImage oci = TRY(image::read_oci_image(options.oci));
  request.sources.push_back(options.oci);
  // As other tools do: the entrypoint's words stay, the command's may be replaced.
  std::vector<std::string> fixed = oci.entrypoint;
  std::vector<std::string> replaceable = options.arguments.empty() ? oci.command : options.arguments;
  if (fixed.empty() && !replaceable.empty()) {
    fixed.push_back(replaceable.front());
    replaceable.erase(replaceable.begin());
  }
  if (fixed.empty()) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected an entrypoint or a command in the OCI image, found neither: "
                     "give the program with --arg");
  }
  request.program = TRY(find_in_root(oci, fixed.front()));
  request.arguments = std::move(fixed);
  request.default_arguments = std::move(replaceable);
  request.environment = oci.environment;
  request.directory = oci.directory;
  request.root = std::move(oci.root);
  return {};
}

Result<void> add_program(const Options& options, image::CastRequest& request) {
  const std::string name = std::filesystem::path(options.program).filename().string();
  request.program = "/bin/" + name;
  request.arguments = {name};
  request.default_arguments = options.arguments;
  request.environment = {"HOME=/", "PATH=/bin"};
  TRY(image::add_program({options.program, request.program, options.root}, request.root));
  for (const std::string& library : TRY(image::add_libraries_of_files(options.root, request.root))) {
    print_warning("no file found for the library " + library + ": who loads that will fail");
  }
  return {};
}

Result<image::CastRequest> request_of(const Options& options) {
  image::CastRequest request;
  request.output = options.output;
  request.format = options.format == "disk"  ? image::ImageFormat::disk
                   : options.format == "iso" ? image::ImageFormat::iso
                                             : image::ImageFormat::elf;
  if (!options.oci.empty()) TRY(add_oci(options, request));
  // Over what a container's image holds, but before a program: a library among them is the one to use.
  image::AddedFiles files;
  for (const std::string& file : options.files) TRY(files.add(file, request.root));
  if (!options.program.empty()) {
    TRY(add_program(options, request));
  } else if (options.serves) {
    request.environment = {"HOME=/"};
    const ServedModels served = TRY(served_at(options.addresses, options.served));
    TRY(add_server(options.products, served, options.arguments, request));
  } else if (options.oci.empty()) {
    request.default_arguments = options.arguments;
    request.environment = {"HOME=/"};
    const std::vector<std::string>& models = options.served.models;
    TRY(add_engine(options.products, models.empty() ? "" : models.front(), request));
  }
  for (const std::string& word : options.kernel_options) request.options += (request.options.empty() ? "" : " ") + word;
  request.environment = with_variables(std::move(request.environment), options.environment);
  if (!options.directory.empty()) request.directory = options.directory;
  request.consumed = options.consumed;
  for (const std::string& right : options.rights) {  // granted twice is granted
    if (std::ranges::find(request.rights, right) == request.rights.end()) request.rights.push_back(right);
  }
  request.network = options.addresses;
  const bool has_network = std::ranges::find(request.rights, "network") != request.rights.end();
  if (has_network && request.network.empty()) request.network = {"dhcp"};
  request.traces_system_calls = options.traces;
  request.memory_limit = options.limit;
  request.tmpfs = options.tmpfs;
  request.descriptors = options.descriptors;
  if (options.serves && !request.descriptors) request.descriptors = server_descriptors;
  request.anonymous = options.heap.value_or(request.anonymous);
  request.machine_memory = options.memory;
  request.machine_cpus = options.cpus;
  request.kernels = TRY(kernels_of(options.products));
  request.loader = options.products.loader;
  if (request.format == image::ImageFormat::disk && request.loader.empty()) {
    const std::string program = TRY(image::running_program());
    request.loader = TRY(image::find_uefi_loader(program));
  }
  request.progress = cast_progress();
  return request;
}

nlohmann::json kernel_json(const image::CastReport& report) {
  const auto facts = [](const image::KernelCandidate& kernel) {
    return nlohmann::json{
        {"name", kernel.name()}, {"path", kernel.path}, {"bytes", kernel.bytes}, {"grants", kernel.grants}};
  };
  nlohmann::json taken = facts(report.kernel);
  taken["passed_over"] = nlohmann::json::array();
  for (const image::KernelCandidate& kernel : report.passed_over) {
    taken["passed_over"].push_back(facts(kernel));
    taken["passed_over"].back()["reason"] = kernel.reason();
  }
  return taken;
}

void print_json(const Options& options, const image::CastReport& report) {
  nlohmann::json document = {{"image", options.output},
                             {"format", options.format},
                             {"kernel", kernel_json(report)},
                             {"bytes", report.file_bytes},
                             {"bundle_bytes", report.bundle_bytes},
                             {"least_memory", report.least_memory},
                             {"machine_memory", report.machine_memory},
                             {"dry_run", options.dry_run},
                             {"missing_system_calls", report.missing_calls},
                             {"missing_calls_with_a_fallback", report.tried_calls},
                             {"missing_in_the_c_library", report.missing_in_the_c_library},
                             {"manifest", report.manifest},
                             {"segments", nlohmann::json::array()}};
  for (const auto& segment : report.segments) {
    document["segments"].push_back(
        {{"path", segment.path}, {"address", segment.part.address}, {"bytes", segment.part.bytes}});
  }
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

// "  (minimal lacks pci)", "  (the smallest)": why it is this kernel, where there was a choice.
std::string reasons_of(const image::CastReport& report) {
  std::string text;
  for (const image::KernelCandidate& kernel : report.passed_over) {
    if (!kernel.lacks.empty()) text += (text.empty() ? "  (" : "; ") + kernel.name() + ' ' + kernel.reason();
  }
  if (report.passed_over.empty()) return text;
  return text.empty() ? "  (the smallest)" : text + ')';
}

void print_table(const Options& options, const image::CastReport& report) {
  std::printf("%-28s  %12s  %s\n", "part", "bytes", "physical address");
  const std::string kernel = "kernel " + report.kernel.name();
  std::printf("%-28s  %12llu%s\n", kernel.c_str(), static_cast<unsigned long long>(report.kernel.bytes),
              reasons_of(report).c_str());
  std::printf("%-28s  %12llu\n", "small files and manifest", static_cast<unsigned long long>(report.bundle_bytes));
  for (const auto& segment : report.segments) {
    std::printf("%-28s  %12llu  0x%llx\n", segment.path.c_str(), static_cast<unsigned long long>(segment.part.bytes),
                static_cast<unsigned long long>(segment.part.address));
  }
  std::printf("%s: %.2f MiB%s, boots with %.0f MiB of memory (least %.0f)\n", options.output.c_str(),
              mebibytes(report.file_bytes), options.dry_run ? " (not written)" : "", mebibytes(report.machine_memory),
              mebibytes(report.least_memory));
}

void warn_of_calls(const image::CastReport& report) {
  const std::vector<std::string>& names = report.missing_calls;
  if (names.empty()) return;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
  print_warning("the program may make " + std::to_string(names.size()) +
                " system calls that the kernel answers with ENOSYS: " + list);
}

// Once it is there.
void warn_of_secrets(const Options& options) {
  if (!options.served.has_secrets()) return;
  const std::string advice = options.format == "oci" ? "a volume brings them to an image that has none"
                                                     : "ingot boot --initrd brings them to an image that has none";
  print_warning("whoever has " + options.output + " has its keys: " + advice);
}

Result<void> run(const Options& options) {
  if (options.format == "oci") {
    TRY(cast_server_image({.served = options.served,
                           .engine = options.products.engine,
                           .output = options.output,
                           .arguments = options.arguments,
                           .files = options.files,
                           .environment = options.environment,
                           .directory = options.directory,
                           .dry_run = options.dry_run,
                           .json = options.json}));
    warn_of_secrets(options);
    return {};
  }
  const image::CastRequest request = TRY(request_of(options));
  const image::CastReport report = options.dry_run ? TRY(image::check_cast(request)) : TRY(image::cast(request));
  // The engine is our own, and tests boot it: what its C library carries and it never calls would only alarm.
  if (!options.program.empty() || !options.oci.empty()) warn_of_calls(report);
  options.json ? print_json(options, report) : print_table(options, report);
  warn_of_secrets(options);
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command =
      application.add_subcommand("cast", "make one bootable file, or a container's image, of a model or a program");
  command.footer(examples);
  const Option model = command
                           .add_option("MODEL", options->served.models,
                                       "a .gguf file, several with --serve; else the model inside this program")
                           .check(as_file());
  command.add_option("-o,--output", options->output, "the image to write")
      .required()
      .check(accepted_by("", image::check_output_name));
  const Option program =
      command.add_option("--program", options->program, "a Linux program for x86_64 instead").check(as_file());
  const Option oci = command.add_option("--oci", options->oci, "an OCI image layout instead: a folder, or a tar of one")
                         .check(as_file())
                         .excludes(program)
                         .excludes(model);
  program.excludes(model);
  command.add_flag("--serve", options->serves, "a machine that serves the models over HTTP")
      .excludes(program)
      .excludes(oci);
  add_served_options(command, options->served);
  command
      .add_option("--address", options->addresses,
                  "how it gets an address: dhcp, slaac, or ADDRESS/PREFIX,GATEWAY[,NAMESERVER...]; once for each "
                  "version of IP; else dhcp")
      .check(accepted_by("", check_address))
      .one_word_each_time();
  command.add_option("--root", options->root, "where the --program's interpreter and libraries are; else this machine")
      .needs(program)
      .check(accepted_by("", check_folder));
  command.add_option("--arg", options->arguments, "an argument for the program; again for the next")
      .one_word_each_time();
  command.add_option("--file", options->files, "SOURCE=DESTINATION: a file or folder for the image's root")
      .check(accepted_by("", image::AddedFiles::check_spelling))
      .one_word_each_time();
  command.add_option("--env", options->environment, "NAME=VALUE for the program")
      .check(accepted_by("", check_environment))
      .one_word_each_time();
  command.add_option("--directory", options->directory, "where the program starts").check(as_file());
  command.add_option("--memory", options->memory, "the machine's memory; refused if too small; else what is needed")
      .transform(as_bytes());
  command.add_option("--heap", options->heap, "memory the program needs beside its files").transform(as_bytes());
  command.add_option("--limit", options->limit, "most memory the program may have").transform(as_bytes());
  command.add_option("--tmpfs", options->tmpfs, "most bytes of files the program may write").transform(as_bytes());
  command.add_option("--descriptors", options->descriptors, "most files the program may have open: 16 to 1048576")
      .check(accepted_by("", check_descriptors));
  command.add_option("--cpus", options->cpus, "the machine's processors").check(as_cpus());
  command
      .add_option("--format", options->format, "elf (QEMU, GRUB), disk (UEFI), iso (GRUB on a disc), oci (containers)")
      .check(one_of({"elf", "disk", "iso", "oci"}))
      .capture_default_str();
  command.add_option("--consume", options->consumed, "a large file whose unmapped pages are given away for good")
      .one_word_each_time();
  command
      .add_option("--grant", options->rights,
                  "a right: writable-executable, network, or a device's name: kmsg, pci, accelerator")
      .check(accepted_by("", check_right))
      .one_word_each_time();
  command.add_flag("--trace", options->traces, "the kernel logs every system call");
  command.add_option("--option", options->kernel_options, "a word for the kernel's own command line, on a disk or disc")
      .check(accepted_by("", check_kernel_word))
      .one_word_each_time();
  command.add_flag("--dry-run", options->dry_run, "check everything, write nothing");
  add_product_options(command, options->products).excludes(program).excludes(oci);
  command.add_option("--loader", options->products.loader, "BOOTX64.EFI, for a disk; else the one beside this program")
      .check(as_file());
  command.add_flag("--json", options->json, "machine-readable report");
  command.callback([options, &exit_code] {
    const Result<void> usable = check_usage(*options);
    exit_code = usable.ok() ? finish_command(run(*options)) : refuse_usage(usable.error());
  });
}

}  // namespace ingot::cast_command
