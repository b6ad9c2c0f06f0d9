// SPDX-License-Identifier: MIT
#include "file_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>

#include "host.hpp"

namespace libgather {

// ---- tables --------------------------------------------------------------------------------------------------------

namespace {

std::mutex guard;

std::map<std::string, std::weak_ptr<FileTable>> &open_tables() {
  static std::map<std::string, std::weak_ptr<FileTable>> opened;
  return opened;
}

std::string key_of(const FilePlace &place) {
  std::string key = place.path;
  for (const auto &part :
       {std::to_string(place.offset), place.type.get_type_name(), std::to_string(place.memory), place.engine, place.shape.to_string()})
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

// ---- the file behind a constant ------------------------------------------------------------------------------------

namespace {

// A line of /proc/self/maps.
struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::int64_t offset = 0;
  unsigned long inode = 0;
  std::string path;
};

bool mapping_read(const std::string &line, Mapping &mapping) {
  int path_at = 0;
  if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64 " %*s %lu %n", &mapping.begin, &mapping.end,
                  reinterpret_cast<std::uint64_t *>(&mapping.offset), &mapping.inode, &path_at) < 4)
    return false;
  mapping.path = path_at > 0 ? line.substr(static_cast<std::size_t>(path_at)) : "";
  // The system writes a line break in a name as \012; such names are left alone.
  return mapping.inode != 0 && !mapping.path.empty() && mapping.path[0] == '/' && mapping.path.find("\\012") == std::string::npos;
}

// The mapping that holds all bytes. Adjacent mappings of one file count as one: advice to the system may have divided it.
std::optional<Mapping> mapping_of(std::uintptr_t at, std::uint64_t bytes) {
  std::ifstream maps("/proc/self/maps");
  std::optional<Mapping> found;
  Mapping next;
  for (std::string line; std::getline(maps, line);) {
    if (!mapping_read(line, next)) continue;
    if (found && next.begin == found->end && next.inode == found->inode && next.path == found->path &&
        next.offset == found->offset + static_cast<std::int64_t>(found->end - found->begin))
      found->end = next.end;
    else if (found)
      break;
    else if (next.begin <= at && at < next.end)
      found = next;
  }
  if (!found || found->end - at < bytes) return std::nullopt;
  return found;
}

// Whether the file of that name still is the one that is mapped, long enough, with the same first and last bytes.
bool same_file(const Mapping &mapping, std::int64_t offset, const char *memory, std::uint64_t bytes) {
  const int file = open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat facts;
  bool same = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_ino == mapping.inode &&
              static_cast<std::uint64_t>(facts.st_size) >= static_cast<std::uint64_t>(offset) + bytes;
  const std::uint64_t sample = bytes < 64 ? bytes : 64;
  for (const std::uint64_t at : {std::uint64_t{0}, bytes - sample}) {
    char there[64];
    same = same && pread(file, there, sample, offset + static_cast<std::int64_t>(at)) == static_cast<ssize_t>(sample) &&
           std::memcmp(there, memory + at, sample) == 0;
  }
  close(file);
  return same;
}

}  // namespace

std::optional<FilePlace> constant_file(const ov::op::v0::Constant &constant) {
  const std::uint64_t bytes = constant.get_byte_size();
  const auto *memory = static_cast<const char *>(constant.get_data_ptr());
  if (bytes == 0 || !memory) return std::nullopt;
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::optional<Mapping> mapping = mapping_of(at, bytes);
  if (!mapping) return std::nullopt;
  const std::int64_t offset = mapping->offset + static_cast<std::int64_t>(at - mapping->begin);
  if (!same_file(*mapping, offset, memory, bytes)) return std::nullopt;
  FilePlace place;
  place.path = mapping->path;
  place.offset = offset;
  place.type = constant.get_element_type();
  place.shape = constant.get_shape();
  return place;
}

}  // namespace libgather
