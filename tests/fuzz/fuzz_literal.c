/* SPDX-License-Identifier: MIT
 *
 * fuzz_literal.c: any text as a literal of the command: as int64, and as elements of the type that its first byte says.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "literal.h"

static void check(gather_status status, gather_type type, const gather_error *error, gather_cli_numbers *numbers) {
  if (status == GATHER_OK) {
    const gather_tensor tensor = {.data = numbers->at, .type = type, .rank = numbers->rank, .shape = numbers->shape};
    fuzz_check(gather_tensor_check(&tensor, NULL) == GATHER_OK, "a literal has a sane shape");
    fuzz_check(gather_tensor_len(&tensor) == numbers->len, "a literal has as many numbers as its shape says");
    uint8_t sum = 0;
    for (int64_t i = 0; i < gather_tensor_bytes(&tensor); i++) sum ^= ((const uint8_t *)numbers->at)[i];
    *(volatile uint8_t *)&sum = sum;
  } else {
    fuzz_check(error->status == status && error->message[0] != '\0', "the error says what is wrong");
    fuzz_check(status == GATHER_USAGE || status == GATHER_UNSUPPORTED, "a broken literal is a usage error");
  }
  gather_cli_numbers_clear(numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  gather_cli_numbers numbers = {0};
  gather_error error;
  if (size == 0) return 0;
  gather_type type = (gather_type)(bytes[0] % 34);
  char *text = malloc(size);
  if (!text) abort();
  memcpy(text, bytes + 1, size - 1);
  text[size - 1] = '\0';
  (void)gather_cli_is_literal(text);
  gather_status status = gather_cli_literal(text, &numbers, &error);
  if (status == GATHER_OK && gather_cli_literal_has(type)) {
    gather_cli_numbers copy = {0};
    if (gather_cli_numbers_copy(numbers.at, numbers.len, &copy, &error) != GATHER_OK) abort();
    check(gather_cli_numbers_retype(&copy, type, &error), type, &error, &copy);
  }
  check(status, GATHER_TYPE_INT64, &error, &numbers);
  if (gather_type_get(type)) {
    status = gather_cli_literal_typed(text, type, &numbers, &error);
    check(status, type, &error, &numbers);
  }
  free(text);
  return 0;
}
