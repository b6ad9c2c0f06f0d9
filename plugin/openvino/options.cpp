// SPDX-License-Identifier: MIT
//
// The options as text, as the environment and Python give them.
#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

namespace libgather {
namespace {

thread_local std::optional<Options> chosen;

[[noreturn]] void refuse(const std::string &why) {
  throw std::runtime_error("libgather's options for OpenVINO: " + why);
}

// "64M" is 64 * 2^20.
std::int64_t size_read(const std::string &key, const std::string &text) {
  std::size_t used = 0;
  long long number = -1;
  try {
    number = std::stoll(text, &used);
  } catch (const std::exception &) {
  }
  const std::string unit = used <= text.size() ? text.substr(used) : "?";
  const std::string units = "KMGT";
  const auto power = unit.size() == 1 ? units.find(unit[0]) : std::string::npos;
  if (number < 0 || (!unit.empty() && power == std::string::npos))
    refuse(key + "=" + text + " is not a size, such as 64M");
  const int shift = unit.empty() ? 0 : 10 * (static_cast<int>(power) + 1);
  if (number > INT64_MAX >> shift) refuse(key + "=" + text + " is too large");
  return static_cast<std::int64_t>(number) << shift;
}

bool flag_read(const std::string &key, const std::string &text) {
  if (text != "0" && text != "1") refuse(key + "=" + text + " must be 0 or 1");
  return text == "1";
}

void assign(Options &options, const std::string &key, const std::string &value) {
  if (key == "force") {
    options.force = flag_read(key, value);
  } else if (key == "take_out") {
    options.take_out = value == "off" ? -1 : size_read(key, value);
  } else if (key == "memory") {
    options.memory = size_read(key, value);
    if (options.memory != 0 && options.memory < GATHER_TABLE_LEAST_MEMORY)
      refuse("memory=" + value + " is less than a table needs, 1M");
  } else if (key == "engine") {
    gather_engine engine = GATHER_ENGINE_AUTO;
    gather_error error;
    if (gather_engine_parse(value.c_str(), &engine, &error) != GATHER_OK) refuse(error.message);
    options.engine = value;
  } else if (key == "on_bad") {
    options_policy(value);
    options.on_bad = value;
  } else {
    refuse("'" + key + "' is not one of force, take_out, memory, engine, on_bad");
  }
}

}  // namespace

gather_on_bad options_policy(const std::string &name) {
  if (name == "rules") return GATHER_ON_BAD_DEFAULT;
  if (name == "error") return GATHER_ON_BAD_ERROR;
  if (name == "zero") return GATHER_ON_BAD_ZERO;
  if (name == "clamp") return GATHER_ON_BAD_CLAMP;
  if (name == "wrap") return GATHER_ON_BAD_WRAP;
  refuse("on_bad=" + name + " is not one of rules, error, zero, clamp, wrap");
}

Options options_read(const std::string &text) {
  Options options;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t sign = part.find('=');
    if (sign == std::string::npos) refuse("'" + part + "' is not KEY=VALUE");
    assign(options, part.substr(0, sign), part.substr(sign + 1));
    at = end + 1;
  }
  return options;
}

Options options_current() {
  if (chosen) return *chosen;
  const char *text = std::getenv("GATHER_OPENVINO");
  return text ? options_read(text) : Options();
}

}  // namespace libgather

int gather_openvino_options(const char *text, char *complaint, size_t bytes) {
  try {
    if (text)
      libgather::chosen = libgather::options_read(text);
    else
      libgather::chosen.reset();
    return 0;
  } catch (const std::exception &error) {
    if (bytes > 0) std::snprintf(complaint, bytes, "%s", error.what());
    return -1;
  }
}
