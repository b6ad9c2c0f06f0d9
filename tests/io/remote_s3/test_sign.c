/* SPDX-License-Identifier: MIT
 *
 * test_sign.c: SHA-256 and HMAC by the published examples, signatures by the published vectors.
 */
#include "io/remote/signature.c"
#include "support/unit.h"

enum { MOST_HEADERS = 6 };

typedef struct sigv4_vector {
  const char *name, *method, *path, *query;
  gather_sigv4_header headers[MOST_HEADERS];
  int32_t header_count;
  const char *payload, *canonical, *string, *signature;
} sigv4_vector;

#include "io/remote_s3/sigv4_vectors.h"

static const char *digest_of(const void *text, size_t bytes) {
  static char hex[GATHER_SHA256_HEX];
  uint8_t digest[GATHER_SHA256_BYTES];
  sha256_of(text, bytes, digest);
  return sha256_hex(digest, hex);
}

/* The examples of FIPS 180-4 (NIST's "SHA-256" example values), and its million times 'a'. */
static void sha256_examples(void **state) {
  assert_string_equal(digest_of("", 0), GATHER_SIGV4_NO_BODY);
  assert_string_equal(digest_of("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_string_equal(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
                      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  char *many = malloc(1000000);
  assert_non_null(many);
  memset(many, 'a', 1000000);
  assert_string_equal(digest_of(many, 1000000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(many);
}

/* Whatever the pieces, the digest is that of the whole. */
static void sha256_pieces(void **state) {
  uint8_t data[300], whole[GATHER_SHA256_BYTES], pieces[GATHER_SHA256_BYTES];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7);
  for (size_t bytes = 0; bytes <= sizeof data; bytes++) {
    sha256_of(data, bytes, whole);
    for (size_t step = 1; step < 140; step += 23) {
      gather_sha256 hash = GATHER_SHA256_BEGUN;
      for (size_t at = 0; at < bytes; at += step) gather_sha256_add(&hash, data + at, bytes - at < step ? bytes - at : step);
      gather_sha256_end(&hash, pieces);
      assert_memory_equal(whole, pieces, sizeof whole);
    }
  }
}

/* RFC 4231, test cases 1, 2, 3 and 6 (a key that is longer than a block). */
static void hmac_examples(void **state) {
  uint8_t key[131], data[50], digest[GATHER_SHA256_BYTES];
  char hex[GATHER_SHA256_HEX];
  memset(key, 0x0b, sizeof key);
  hmac_sha256(key, 20, "Hi There", 8, digest);
  assert_string_equal(sha256_hex(digest, hex), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, digest);
  assert_string_equal(sha256_hex(digest, hex), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  memset(key, 0xaa, sizeof key);
  memset(data, 0xdd, sizeof data);
  hmac_sha256(key, 20, data, sizeof data, digest);
  assert_string_equal(sha256_hex(digest, hex), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  hmac_sha256(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54, digest);
  assert_string_equal(sha256_hex(digest, hex), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void assert_signed(const gather_sigv4 *request, const sigv4_vector *vector) {
  gather_growing canonical = {0}, string = {0}, authorization = {0};
  write_canonical(request, &canonical);
  assert_string_equal(canonical.text, vector->canonical);
  write_string(request, &string);
  assert_string_equal(string.text, vector->string);
  write_authorization(request, &authorization);
  const char *signature = strstr(authorization.text, ", Signature=");
  assert_non_null(signature);
  assert_string_equal(signature + 12, vector->signature);
  assert_memory_equal(authorization.text, "AWS4-HMAC-SHA256 Credential=", 28);
  gather_growing_clear(&canonical);
  gather_growing_clear(&string);
  gather_growing_clear(&authorization);
}

/* The suite of AWS: the path as the request has it, encoded by us. */
static void published_vectors(void **state) {
  char time[GATHER_SIGV4_TIME];
  for (size_t i = 0; i < COUNT(VECTORS); i++) {
    const sigv4_vector *vector = &VECTORS[i];
    gather_growing path = {0};
    gather_percent_encode(&path, vector->path, strlen(vector->path), true);
    gather_sigv4 request = {ITEMS(.key_id = "AKIDEXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", .region = "us-east-1",
                                  .service = "service", .method = vector->method, .path = path.text, .query = vector->query,
                                  .headers = vector->headers, .header_count = vector->header_count, .payload = vector->payload,
                                  .time = write_time(1440938160, time))};
    assert_signed(&request, vector);
    gather_growing_clear(&path);
  }
}

/* The examples of "Signature Calculations for the Authorization Header" in S3's API reference: an object's first bytes, a bucket's
 * configuration, and a listing, with S3's own header x-amz-content-sha256. */
static void s3_examples(void **state) {
  static const struct {
    const char *path, *query, *range, *signature;
  } CASES[] = {{"/test.txt", "", "bytes=0-9", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
               {"/", "lifecycle=", NULL, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
               {"/", "max-keys=2&prefix=J", NULL, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_sigv4_header headers[4] = {{"host", "examplebucket.s3.amazonaws.com"}};
    int32_t count = 1;
    if (CASES[i].range) headers[count++] = (gather_sigv4_header){"range", CASES[i].range};
    headers[count++] = (gather_sigv4_header){"x-amz-content-sha256", GATHER_SIGV4_NO_BODY};
    headers[count++] = (gather_sigv4_header){"x-amz-date", "20130524T000000Z"};
    gather_sigv4 request = {ITEMS("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1", "s3", "GET",
                                  CASES[i].path, CASES[i].query, headers, count, GATHER_SIGV4_NO_BODY, "20130524T000000Z")};
    gather_growing authorization = {0};
    write_authorization(&request, &authorization);
    assert_non_null(strstr(authorization.text, CASES[i].signature));
    gather_growing_clear(&authorization);
  }
}

static void times(void **state) {
  static const struct {
    int64_t seconds;
    const char *text;
  } CASES[] = {{0, "19700101T000000Z"},          {-5, "19700101T000000Z"},
               {951782399, "20000228T235959Z"},  {951782400, "20000229T000000Z"},
               {951868800, "20000301T000000Z"},  {1369353600, "20130524T000000Z"},
               {4107542399, "21000228T235959Z"}, {4107542400, "21000301T000000Z"},
               {1735689599, "20241231T235959Z"}, {253402300799, "99991231T235959Z"},
               {INT64_MAX, "99991231T235959Z"}};
  char text[GATHER_SIGV4_TIME];
  for (size_t i = 0; i < COUNT(CASES); i++) assert_string_equal(write_time(CASES[i].seconds, text), CASES[i].text);
}

TESTS(sha256_examples, sha256_pieces, hmac_examples, published_vectors, s3_examples, times)
