// SPDX-License-Identifier: MIT
#include "file_table.hpp"

#include <map>
#include <mutex>
#include <stdexcept>

#include "tensors.hpp"

namespace libgather {
namespace {

std::mutex guard;

std::map<std::string, std::weak_ptr<FileTable>> &open_tables() {
  static std::map<std::string, std::weak_ptr<FileTable>> opened;
  return opened;
}

std::string key_of(const FilePlace &place) {
  std::string key = place.path;
  for (const auto &part : {std::to_string(place.offset), place.type.get_type_name(), std::to_string(place.memory),
                           place.engine, place.shape.to_string()})
    key += '\0' + part;
  return key;
}

}  // namespace

FileTable::FileTable(const FilePlace &place) : place_(place) {
  gather_raw raw = {};
  const gather_type_info *type = gather_type_get(type_of(place.type));
  raw.type = type ? type->name : "";
  raw.rank = static_cast<std::int32_t>(place.shape.size());
  raw.shape = lengths_of(place_.shape);
  raw.offset = place.offset;
  raw.as_is = true;  // a .bin file may begin with anything
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  options.raw = &raw;
  options.tensor = "";  // a colon in a path is a character like others
  options.memory_bytes = place.memory;
  gather_error error;
  gather_status status = gather_engine_parse(place.engine.c_str(), &options.engine, &error);
  if (status == GATHER_OK) status = gather_table_open(place.path.c_str(), &options, &table_, &error);
  if (status != GATHER_OK) throw std::runtime_error(std::string("libgather: ") + error.message);
}

FileTable::~FileTable() { gather_table_close(table_); }

std::shared_ptr<FileTable> FileTable::open(const FilePlace &place) {
  const std::lock_guard<std::mutex> lock(guard);
  auto &tables = open_tables();
  for (auto at = tables.begin(); at != tables.end();) at = at->second.expired() ? tables.erase(at) : std::next(at);
  std::weak_ptr<FileTable> &known = tables[key_of(place)];
  std::shared_ptr<FileTable> table = known.lock();
  if (!table) {
    table.reset(new FileTable(place));
    known = table;
  }
  return table;
}

std::vector<std::shared_ptr<FileTable>> file_tables() {
  const std::lock_guard<std::mutex> lock(guard);
  std::vector<std::shared_ptr<FileTable>> all;
  for (const auto &entry : open_tables())
    if (auto table = entry.second.lock()) all.push_back(std::move(table));
  return all;
}

}  // namespace libgather
