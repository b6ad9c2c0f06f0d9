# SPDX-License-Identifier: MIT
"""What S3 and the hub answer, for make_corpus.py: inputs of fuzz_s3.c."""


def s3_files() -> list[bytes]:
    """A URL, header lines, and a body, with zero bytes between them."""
    listing = (
        b'<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>true</IsTruncated>'
        b"<NextContinuationToken>1/+=</NextContinuationToken><Contents><Key>p/a+b%2Fc</Key><Size>12</Size></Contents>"
        b"<CommonPrefixes><Prefix>p/d%2F</Prefix></CommonPrefixes></ListBucketResult>"
    )
    error = b"<Error><Code>%s</Code><Region>eu-west-1</Region><StringToSign>x</StringToSign></Error>"
    tree = (
        b'[{"type":"file","path":"a/model.safetensors","size":1234567890123,"oid":"0","lfs":{"size":3}},'
        b'{"type":"directory","path":"a/b","size":0}]'
    )
    bodies = [listing, listing[:150], b"", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", b"<a>" * 40, b"[" * 400, tree, tree[:40],
              b'[{"type":"file","path":"../x","size":-1}]', b'{"error":"x"}']
    # Numbers at the end of 64 bits and behind it, which no chance finds: as long as any size, and longer.
    sizes = [b"9" * 18, b"9" * 19, b"9223372036854775808", b"9" * 40, b"-1", b""]
    bodies += [listing.replace(b"<Size>12<", b"<Size>" + size + b"<") for size in sizes]
    bodies += [tree.replace(b"1234567890123", size) for size in sizes if size]
    codes = [b"AccessDenied", b"SignatureDoesNotMatch", b"RequestTimeTooSkewed", b"AuthorizationHeaderMalformed", b"PermanentRedirect",
             b"NoSuchKey", b"SlowDown", b"x y", b"", b"a" * 100]
    headers = (
        b"Date: Sun, 30 Aug 2015 12:36:00 GMT\nx-amz-bucket-region: eu-west-2\nX-Error-Code: GatedRepo\n"
        b'X-Repo-Commit: 0123456789abcdef0123456789abcdef01234567\nX-Linked-Etag: "a"\nX-Linked-Size: 7\n'
    )
    long_ones = [b"X-Linked-Size: " + size + b"\n" for size in sizes]
    long_ones += [b'X-Linked-Etag: "' + b"e" * length + b'"\n' for length in (*range(196, 204), 1000)]
    long_ones += [b"x-amz-bucket-region: " + b"r" * length + b"\n" for length in (63, 64, 65, 66, 300)]
    commit = b"0123456789abcdef0123456789abcdef01234567"
    urls = [b"s3://bucket/p/", b"hf://owner/repo/a", b"hf://datasets/o/r@refs/pr/1/x", b"hf://o/r@a%2Fb/c", b"https://h/a?q", b"s3://b/a b?c"]
    files = [url + b"\0" + head + b"\0" + body for url in urls[:2] for head in (headers, b"") for body in bodies]
    files += [url + b"\0" + headers + b"\0" + error % code for url in (urls[0], urls[1]) for code in codes]
    files += [url + b"\0" + header + b"\0" for url in urls[:2] for header in long_ones]
    return files + [url + b"\0" + commit + b"\0" for url in urls]


def aws_files() -> list[bytes]:
    """A profile and a zero byte, then a file of credentials: inputs of fuzz_aws_files.c."""
    text = (
        b"# comment\n[default]\naws_access_key_id = AKID\naws_secret_access_key=s/+=\n\naws_session_token : t\nregion = eu-west-1\n"
        b"s3 =\n    addressing_style = virtual\n[profile p]\n  indented = 1\nsso_session = x\nendpoint_url = http://h\n"
    )
    bodies = [text, text.replace(b"\n", b"\r\n"), b"key = 1\n", b"[default\n", b"[]\n=\n", b"[default]\nx\n", b"[default]\n" + b"a" * 9000,
              b"[default]\nregion = " + b"a" * 9000, b"\0", b"[" + b"s" * 300 + b"]", b"token\n", b""]
    return [profile + b"\0" + body for profile in (b"", b"p") for body in bodies]
