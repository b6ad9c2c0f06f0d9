// SPDX-License-Identifier: MIT
//
// What the extension has done, for programs: as JSON, so that a binding in any language can read it.
#include <cstdio>
#include <cstring>
#include <string>

#include "decide.hpp"
#include "file_table.hpp"

namespace libgather {
namespace {

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string member(const char *name, std::int64_t number) {
  return ", \"" + std::string(name) + "\": " + std::to_string(number);
}

std::string described(const FileTable &table) {
  gather_table_statistics facts;
  gather_table_statistics_get(table.table(), &facts);
  const gather_table_info *info = gather_table_describe(table.table());
  return "{\"path\": " + quoted(table.place().path) + ", \"engine\": " + quoted(gather_engine_name(facts.engine)) +
         member("offset", table.place().offset) + member("rows", info->rows) + member("row_bytes", info->row_bytes) +
         member("takes", facts.takes) + member("rows_taken", facts.rows) +
         member("rows_resident", facts.rows_resident) + member("rows_cached", facts.rows_cached) +
         member("rows_read", facts.rows_read) + member("bytes_useful", facts.bytes_useful) +
         member("bytes_read", facts.bytes_read) + member("memory_bytes", facts.memory_bytes) +
         member("memory_peak", facts.memory_peak) + member("memory_limit", facts.memory_ceiling) + "}";
}

}  // namespace
}  // namespace libgather

// Writes the report as snprintf does: at most `bytes` with the terminator; returns its length without truncation.
extern "C" __attribute__((visibility("default"))) size_t gather_openvino_report(char *text, size_t bytes) {
  const libgather::Counts counts = libgather::counts();
  std::string report = "{\"taken\": " + std::to_string(counts.taken) + libgather::member("tables_out", counts.tables) +
                       libgather::member("left", counts.left) + ", \"tables\": [";
  const char *between = "";
  for (const auto &table : libgather::file_tables()) {
    report += between + libgather::described(*table);
    between = ", ";
  }
  report += "]}";
  if (bytes > 0) std::snprintf(text, bytes, "%s", report.c_str());
  return report.size();
}
