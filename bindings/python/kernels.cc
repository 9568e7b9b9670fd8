#include "bindings/python/kernels.h"

#include <pybind11/stl.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bindings/python/arrays.h"
#include "bindings/python/one_thread.h"
#include "kernels/all_operations.h"
#include "kernels/contract/known_outputs.h"
#include "kernels/pick.h"
#include "machine/limits.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/of_this_process.h"
#include "machine/workers.h"
#include "profile/verify.h"

namespace ingot::python {
namespace {

namespace py = pybind11;

const Operation& operation_named(const std::string& name) {
  if (const Operation* found = find_operation(name)) return *found;
  or_throw(pick_operations(name));  // or says what is near
  throw Failure{Error::of(ErrorCode::not_found, "expected the name of an operation, found that of a family, '", name,
                          "': ingot.kernels('", name, "') lists it")};
}

// What is lent is asked for by code of Python's, which may change the dict that it stands in.
py::dict copy_of(const py::dict& dict) {
  PyObject* const copy = PyDict_Copy(dict.ptr());
  if (copy == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::dict>(copy);
}

// A call in the making: fields bound to arrays by their names.
class Call {
 public:
  explicit Call(const Operation& operation) : operation_(operation), invocation_(operation.empty()) {}

  void bind(const std::string& name, py::handle value) {
    const int index = index_of(name);
    const FieldInformation& field = operation_.fields[static_cast<std::size_t>(index)];
    if (!field.is_tensor) return set_attribute(index, field, value);
    if (is_present(invocation_->tensor(index))) {
      throw Failure{Error::of(ErrorCode::invalid_argument, operation_.name, ": expected ", name,
                              " once, found it among the fields and in out")};
    }
    const auto use = is_written(field.role) ? BorrowedArray::Use::write : BorrowedArray::Use::read;
    const std::string told = std::string(operation_.name) + ": " + name;
    borrowed_.emplace_back(told, value, use);
    or_throw(invocation_->set_tensor(index, borrowed_.back().view()));
    if (is_written(field.role)) written_.emplace_back(field.name, py::reinterpret_borrow<py::object>(value));
  }

  // Memory for outputs: of the only one, or of several by their names.
  void bind_out(const py::object& out) {
    if (out.is_none()) return;
    if (py::isinstance<py::dict>(out)) {
      for (const auto& [field, value] : copy_of(out.cast<py::dict>())) {
        const auto name = field.cast<std::string>();
        if (!is_written(operation_.fields[static_cast<std::size_t>(index_of(name))].role)) {
          throw Failure{Error::of(ErrorCode::invalid_argument, operation_.name,
                                  ": expected what it writes in out, found ", name, ", which it reads")};
        }
        bind(name, value);
      }
      return;
    }
    std::vector<std::string> names;
    for (const FieldInformation& field : operation_.fields) {
      if (field.role == Role::output) names.emplace_back(field.name);
    }
    if (names.size() == 1) return bind(names.front(), out);
    throw Failure{Error::of(ErrorCode::invalid_argument, operation_.name, ": expected out as a dict of ", names.size(),
                            " arrays by their names, found one array")};
  }

  // What the caller has no memory for.
  void make_outputs(KnownOutputs& known, const py::object& empty) {
    for (const ToldOutput& told : or_throw(known.of(operation_, *invocation_))) {
      or_throw(invocation_->set_tensor(told.field, AnyView()));
      bind(std::string(operation_.fields[static_cast<std::size_t>(told.field)].name),
           new_array(empty, told.dtype, told.shape));
    }
  }

  const Invocation& invocation() const { return *invocation_; }

  // The one output, or all of them by their names.
  py::object written() const {
    if (written_.size() == 1) return written_.front().second;
    py::dict all;
    for (const auto& [name, array] : written_) all[py::str(std::string(name))] = array;
    return all;
  }

 private:
  int index_of(const std::string& name) const {
    const int index = operation_.field_index(name);
    if (index >= 0) return index;
    std::string names;
    for (const FieldInformation& field : operation_.fields) {
      names.append(names.empty() ? "" : ", ").append(field.name);
    }
    throw Failure{
        Error::of(ErrorCode::not_found, operation_.name, ": expected fields among ", names, ", found '", name, "'")};
  }

  void set_attribute(int index, const FieldInformation& field, py::handle value) {
    const AttributeValue before = invocation_->attribute(index);
    const auto refuse = [&](std::string_view expected) {
      throw Failure{Error::of(ErrorCode::invalid_argument, operation_.name, ": expected ", field.name, " as ", expected,
                              ", found ", std::string_view(py::repr(value).cast<std::string>()))};
    };
    if (std::holds_alternative<bool>(before)) {
      if (!py::isinstance<py::bool_>(value)) refuse("True or False");
      return invocation_->set_attribute(index, value.cast<bool>());
    }
    if (std::holds_alternative<double>(before)) {
      if (PyFloat_Check(value.ptr()) == 0 && PyIndex_Check(value.ptr()) == 0) refuse("a number");
      return invocation_->set_attribute(index, PyNumber_Float(value));
    }
    if (PyIndex_Check(value.ptr()) == 0 || py::isinstance<py::bool_>(value)) refuse("a whole number");
    const std::int64_t number = py::int_(py::reinterpret_borrow<py::object>(value)).cast<std::int64_t>();
    invocation_->set_attribute(index, number);
    if (invocation_->attribute(index) != AttributeValue(number)) refuse("a whole number that fits it");
  }
  static double PyNumber_Float(py::handle value) { return py::float_(py::reinterpret_borrow<py::object>(value)); }

  const Operation& operation_;
  std::unique_ptr<Invocation> invocation_;
  std::vector<BorrowedArray> borrowed_;
  std::vector<std::pair<std::string_view, py::object>> written_;
};

// Workers and the table of this machine. Calls of several threads come one after another.
class Kernels {
 public:
  explicit Kernels(int threads)
      : table_(or_throw(KernelTable::select(all_operations(), Machine::detect().features))),
        workers_(or_throw(Workers::create({.threads = threads}))) {}

  py::object run(const std::string& name, const py::dict& fields, const py::object& out,
                 const std::optional<std::string>& variant) {
    require_home();
    const Operation& operation = operation_named(name);
    Call call(operation);
    for (const auto& [field, value] : copy_of(fields)) call.bind(field.cast<std::string>(), value);
    call.bind_out(out);
    call.make_outputs(outputs_, empty_);
    {
      const py::gil_scoped_release free;
      compute(operation, call.invocation(), variant);
    }
    return call.written();
  }

  int threads() const { return workers_->count(); }

 private:
  void require_home() const {
    if (home_.is_at_home()) return;
    throw Failure{Error::of(ErrorCode::invalid_argument,
                            "expected kernels in the process that first ran one, found a fork of that: use them after "
                            "forking, or make another ingot.Kernels()")};
  }

  void compute(const Operation& operation, const Invocation& invocation, const std::optional<std::string>& variant) {
    or_throw(invocation.check());
    const int row = variant ? forced(operation, invocation, *variant) : table_.choose(operation, invocation);
    if (row < 0) {
      throw Failure{Error::of(ErrorCode::unsupported, operation.name,
                              ": expected a variant that takes these arguments, found none")};
    }
    const std::lock_guard lock(mutex_);
    const std::size_t needed = invocation.scratch_bytes(row, workers_->count());
    if (scratch_.size() < needed) scratch_ = or_throw(Memory::allocate(Bytes(needed)));
    Context context{*workers_, scratch_.bytes()};
    invocation.run(row, context);
  }

  int forced(const Operation& operation, const Invocation& invocation, const std::string& variant) const {
    or_throw(require_variant({&operation}, variant));
    const int row = operation.variant_index(variant);
    const std::span<const int> available = table_.available(operation.name);
    if (std::find(available.begin(), available.end(), row) == available.end()) {
      throw Failure{Error::of(ErrorCode::unsupported, operation.name, " ", variant,
                              ": expected a variant that this machine can run, found one that it cannot")};
    }
    if (invocation.accepts(row)) return row;
    throw Failure{Error::of(ErrorCode::unsupported, operation.name, " ", variant,
                            ": expected arguments that it takes, found others")};
  }

  OneThread home_;
  KernelTable table_;
  OfThisProcess<Workers> workers_;
  Memory scratch_;
  std::mutex mutex_;      // of workers and scratch
  KnownOutputs outputs_;  // the interpreter's lock is held where it is used
  py::object empty_ = py::module_::import("numpy").attr("empty");
};

std::string_view state_of(const VariantInformation& variant, const Processor& processor) {
  switch (availability(variant, processor)) {
    case Availability::available: return "available";
    case Availability::not_built: return "not built";
    case Availability::lacks_features: return "lacks features";
    case Availability::elsewhere: return "elsewhere";
  }
  return "unknown";
}

py::list names_of(FeatureSet features) {
  py::list names;
  for (int index = 0; index < feature_count; ++index) {
    if (features.contains(static_cast<Feature>(index))) names.append(name_of(static_cast<Feature>(index)));
  }
  return names;
}

py::dict description_of(const Operation& operation, const Processor& processor) {
  py::list fields;
  for (const FieldInformation& field : operation.fields) {
    py::dict row;
    row["name"] = field.name;
    row["role"] = name_of(field.role);
    row["optional"] = field.presence == Presence::optional;
    row["is_tensor"] = field.is_tensor;
    fields.append(row);
  }
  py::list variants;
  for (const VariantInformation& variant : operation.variants) {
    py::dict row;
    row["name"] = variant.name;
    row["needs"] = names_of(variant.needs);
    row["state"] = state_of(variant, processor);
    variants.append(row);
  }
  py::dict described;
  described["name"] = operation.name;
  described["family"] = operation.family();
  described["equation"] = operation.equation;
  described["fields"] = fields;
  described["variants"] = variants;
  described["backward"] = operation.backward;
  return described;
}

py::list list_kernels(const std::string& name) {
  const Processor processor(Machine::detect().features);
  py::list list;
  for (const Operation* operation : or_throw(pick_operations(name))) {
    list.append(description_of(*operation, processor));
  }
  return list;
}

py::dict dictionary_of(const VerifyRow& row) {
  py::dict made;
  made["operation"] = row.operation;
  made["variant"] = row.variant;
  made["status"] = name_of(row.status);
  made["worst_epsilons"] = row.worst_epsilons;
  made["cases"] = row.cases;
  made["detail"] = row.detail;
  return made;
}

py::list verify(const std::string& name, const std::string& variant, std::uint64_t seed, bool reduced) {
  const auto operations = or_throw(pick_operations(name));
  if (!variant.empty()) or_throw(require_variant(operations, variant));
  // Signals have one handler in a process, and a proof takes that of touched guards.
  static std::mutex one_at_a_time;
  std::unique_lock lock(one_at_a_time, std::try_to_lock);
  if (!lock) {
    throw Failure{Error::of(ErrorCode::would_block, "expected one verify() at a time in a process, found a second")};
  }
  VerifyOptions options;
  options.seed = seed;
  options.variant = variant;
  options.reduced = reduced;
  Verifier verifier = or_throw(Verifier::create(Machine::detect().features, std::move(options)));
  py::list rows;
  for (const Operation* operation : operations) {
    std::vector<VerifyRow> of_operation;
    {
      const py::gil_scoped_release free;
      of_operation = verifier.verify(*operation, all_operations());
    }
    for (const VerifyRow& row : of_operation) rows.append(dictionary_of(row));
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  return rows;
}

}  // namespace

void add_kernels(py::module_& module) {
  py::class_<Kernels>(
      module, "Kernels",
      "Contracts, and the threads that compute them. Any thread may call; calls come one after another.")
      .def(py::init([](int threads) {
             require_between("threads", threads, 0, most_threads);
             return std::make_unique<Kernels>(threads > 0 ? threads : usable_cpu_count());
           }),
           py::arg("threads") = 0)
      .def("run", &Kernels::run, py::arg("name"), py::arg("fields"), py::arg("out"), py::arg("variant"),
           "Runs a contract on the arrays in `fields` and `out`, by their names.")
      .def_property_readonly("threads", &Kernels::threads);
  module.def("kernels", list_kernels, py::arg("name") = "", "Descriptions of operations.");
  module.def("verify", verify, py::arg("name"), py::arg("variant"), py::arg("seed"), py::arg("reduced"),
             "Rows of the report on an operation, a family, or all where the name is empty.");
}

}  // namespace ingot::python
