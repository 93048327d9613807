// A Stan program as a shared library with an interface in C. STAN_PROGRAM is the file in C++ that stanc has made of it.
// Functions that may fail return false, or a null pointer, and write why to a buffer.
#include STAN_PROGRAM

#include <stan/io/json/json_data.hpp>
#include <stan/model/log_prob_grad.hpp>
#include <stan/services/util/create_rng.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Model = stan::model::model_base;

constexpr unsigned SEED = 1;

void copy(const std::string& text, char* buffer, std::size_t size) {
  if (size == 0) return;
  const std::size_t n = std::min(text.size(), size - 1);
  std::memcpy(buffer, text.data(), n);
  buffer[n] = '\0';
}

std::vector<double> point_of(const Model& model, const double* theta) {
  return std::vector<double>(theta, theta + model.num_params_r());
}

std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  model.constrained_param_names(names, false, false);
  return names;
}

}  // namespace

extern "C" {

// The program with its data, a text in JSON.
void* program_new(const char* data, char* error, std::size_t size) {
  try {
    std::istringstream text(data);
    stan::json::json_data context(text);
    return &new_model(context, SEED, nullptr);
  } catch (const std::exception& e) {
    copy(e.what(), error, size);
    return nullptr;
  }
}

void program_delete(void* program) { delete static_cast<Model*>(program); }

int program_n_parameters(void* program) { return static_cast<int>(static_cast<Model*>(program)->num_params_r()); }

// Names of the constrained parameters with their indices, such as "x.2.1", with commas between; returns their number.
int program_names(void* program, char* names, std::size_t size) {
  std::string text;
  const std::vector<std::string> all = names_of(*static_cast<Model*>(program));
  for (const std::string& name : all) text += text.empty() ? name : "," + name;
  copy(text, names, size);
  return static_cast<int>(all.size());
}

// Log density of the unconstrained parameters with all constants and the Jacobian, and its gradient unless that is null.
bool program_log_density(void* program, const double* theta, double* value, double* gradient, char* error,
                         std::size_t size) {
  try {
    const Model& model = *static_cast<Model*>(program);
    std::vector<double> point = point_of(model, theta), found;
    std::vector<int> integers;
    *value = gradient == nullptr
        ? model.log_prob_jacobian(point, integers, nullptr)
        : stan::model::log_prob_grad<false, true>(model, point, integers, found, nullptr);
    if (gradient != nullptr) std::copy(found.begin(), found.end(), gradient);
    return true;
  } catch (const std::exception& e) {
    copy(e.what(), error, size);
    return false;
  }
}

// The constrained parameters in the order of their names.
bool program_constrain(void* program, const double* theta, double* values, char* error, std::size_t size) {
  try {
    const Model& model = *static_cast<Model*>(program);
    std::vector<double> point = point_of(model, theta), found;
    std::vector<int> integers;
    auto generator = stan::services::util::create_rng(SEED, 1);
    model.write_array(generator, point, integers, found, false, false, nullptr);
    std::copy(found.begin(), found.end(), values);
    return true;
  } catch (const std::exception& e) {
    copy(e.what(), error, size);
    return false;
  }
}

}  // extern "C"
