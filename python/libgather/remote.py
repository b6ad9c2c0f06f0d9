# SPDX-License-Identifier: MIT
#
# remote.py: tables on other machines: the options of their URLs, what the environment says
# about servers, and the statistics of the network.
"""How URLs are read."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libgather import _core

_HUB = "https://huggingface.co"
_MOST_FILE = 1 << 20
# How profiles get credentials that are not in these files.
_OTHERS = ("sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file")
_TEXTS = ("schemes", "bearer", "endpoint", "region", "key_id", "secret", "session_token", "hub", "authorities")
_NAMES = (*_TEXTS, "connections", "timeout", "retries", "gap", "cache", "cache_bytes", "virtual_host", "whole", "any_address")


@dataclass(frozen=True)
class RemoteStatistics:
    """Network statistics of a table of URLs since it was opened, or since reset_stats().

    Attributes
    ----------
    requests, retries, hedges : int
        Requests sent, with retries and hedges; sent again after an error; sent a second time because the first was slow.
    bytes_useful, bytes_read : int
        Of the requested rows; received.
    cache_hits, cache_stored, cache_failures : int
        Blocks found in the folder of the option cache; written there; not written, or found damaged.
    cache_why : str
        Why blocks are not kept there; "" if they are.
    connections, in_flight_peak, depth : int
        Connections opened; the most requests in flight; the most that are allowed now.
    gap_bytes : int
        In the latest take, one request read rows that were up to this many bytes apart.
    latency, bandwidth : float
        Measured: the median of seconds to the first byte; bytes per second of all connections together.
    p50, p99 : float
        Seconds of whole requests: the median, and the 99th percentile.
    """

    requests: int
    retries: int
    hedges: int
    bytes_useful: int
    bytes_read: int
    cache_hits: int
    cache_stored: int
    cache_failures: int
    cache_why: str
    connections: int
    in_flight_peak: int
    depth: int
    gap_bytes: int
    latency: float
    bandwidth: float
    p50: float
    p99: float


def is_url(name: str) -> bool:
    """Whether a name begins like a URL that the library may read."""
    return _core._is_url(os.fsencode(name))


def shown(name: str) -> str:
    """A name to print: URLs without user, query and fragment, which may be secrets."""
    found = re.match(r"(?i)(https?://)(?:[^/?#]*@)?([^?#]*)", name)
    return "".join(found.groups()) if found else name


# ---- the environment ---------------------------------------------------------------------------------------------------


def _variable(*names: str) -> str | None:
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _small_file(path: str) -> bytes | None:
    """A file of at most 1 MiB, as files of credentials are; None if there is none."""
    try:
        with open(path, "rb") as stream:
            content = stream.read(_MOST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(content) > _MOST_FILE:
        raise ValueError(f"{path} is larger than 1 MiB")
    return content


def _section(variable: str, file: str, name: str) -> Mapping[str, str]:
    """A section of one of the files that programs for S3 share; empty if there is none."""
    path = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), ".aws", file)
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    text = _small_file(path)
    if text is None:
        return {}
    try:
        parser.read_string(text.decode("utf-8"))
    except (configparser.Error, UnicodeDecodeError) as error:  # the message of the parser would show a line of the file
        raise ValueError(f"{path} cannot be read: {type(error).__name__}") from None
    return parser[name] if parser.has_section(name) else {}


def _s3() -> dict[str, Any]:
    """Credentials and places: the variables first, then the files of the profile."""
    profile = _variable("AWS_PROFILE") or "default"
    keys = _section("AWS_SHARED_CREDENTIALS_FILE", "credentials", profile)
    config = _section("AWS_CONFIG_FILE", "config", profile if profile == "default" else f"profile {profile}")
    if _variable("AWS_PROFILE") and not keys and not config:
        raise ValueError(f"there is no profile {profile!r} (AWS_PROFILE)")
    found: dict[str, Any] = {
        "endpoint": _variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") or keys.get("endpoint_url") or config.get("endpoint_url"),
        "region": _variable("AWS_REGION", "AWS_DEFAULT_REGION") or keys.get("region") or config.get("region"),
        "virtual_host": "addressing_style=virtual" in (config.get("s3") or "").replace(" ", "").split(),
    }
    if _variable("AWS_ACCESS_KEY_ID"):
        source: Mapping[str, str | None] = {
            "aws_access_key_id": _variable("AWS_ACCESS_KEY_ID"),
            "aws_secret_access_key": _variable("AWS_SECRET_ACCESS_KEY"),
            "aws_session_token": _variable("AWS_SESSION_TOKEN"),
        }
    else:
        source = keys if keys.get("aws_access_key_id") else config
        other = next((name for name in _OTHERS if keys.get(name) or config.get(name)), None)
        if other and not source.get("aws_access_key_id"):
            raise ValueError(
                f"the profile {profile!r} gets its credentials by {other}, which is not supported: run 'aws configure "
                "export-credentials --format env' and set what it prints"
            )
    if source.get("aws_access_key_id"):
        found["key_id"] = source.get("aws_access_key_id")
        found["secret"] = source.get("aws_secret_access_key")
        found["session_token"] = source.get("aws_session_token")
    return found


def _token() -> str | None:
    """HF_TOKEN, or the file in which the hub's own tools keep the token."""
    if token := _variable("HF_TOKEN"):
        return token
    cache = _variable("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = _variable("HF_TOKEN_PATH") or os.path.join(_variable("HF_HOME") or os.path.join(cache, "huggingface"), "token")
    lines = (_small_file(path) or b"").decode("utf-8", "replace").splitlines()
    return (lines[0].strip() if lines else "") or None


def _environment(urls: Sequence[str]) -> dict[str, Any]:
    hub = _variable("HF_ENDPOINT")
    found: dict[str, Any] = {"hub": hub, "authorities": _variable("CURL_CA_BUNDLE", "SSL_CERT_FILE")}
    found["any_address"] = os.environ.get("GATHER_ANY_ADDRESS") == "1"
    names = [url.lower() for url in urls]  # schemes and hosts are the same in capitals
    if any(name.startswith("s3://") for name in names):
        found |= _s3()
    of_hub = ("hf://", (hub or _HUB).lower().rstrip("/") + "/")
    if all(name.startswith(of_hub) for name in names):  # the token is for the hub alone
        found["bearer"] = _token()
    return found


# ---- options -----------------------------------------------------------------------------------------------------------


def url_options(url: str) -> tuple | None:
    """The same for one URL, from the environment only."""
    return remote_options([url], None, lambda amount, _: int(amount))


def _number(value: Any, name: str, least: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
        raise ValueError(f"remote: {name} must be a number of at least {least:g}, not {value!r}")
    return value


def remote_options(paths: Sequence[str], given: Mapping[str, Any] | None, bytes_of: Any) -> tuple | None:
    """The values for the extension: None if no path is a URL."""
    urls = [path for path in paths if is_url(path)]
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"remote must be a dict of options, not {type(given).__name__}")
    for name in given or ():
        if name not in _NAMES:
            raise TypeError(f"remote has no option {name!r}; it has {', '.join(sorted(_NAMES))}")
    if not urls:
        if given is not None:
            raise ValueError("remote is for URLs, and no path is a URL")
        return None
    chosen = {name: value for name, value in _environment(urls).items() if value}
    chosen |= {name: value for name, value in (given or {}).items() if value is not None}
    for name in _TEXTS:
        if not isinstance(chosen.get(name, ""), str):
            raise TypeError(f"remote: {name} must be a str")
    timeout = _number(chosen.get("timeout", 0), "timeout", 0)
    gap, cache = chosen.get("gap", "auto"), chosen.get("cache")
    if "cache_bytes" in chosen and cache is None:
        raise ValueError("remote: cache_bytes needs cache, the folder")
    return (
        int(_number(chosen.get("connections", 0), "connections", 0)),
        min(20.0, timeout / 3),
        float(timeout),
        int(_number(chosen.get("retries", -1), "retries", -1)),
        -1 if gap == "auto" else bytes_of(gap, "gap"),
        None if cache is None else os.fsencode(cache),
        bytes_of(chosen.get("cache_bytes", 0), "cache_bytes"),
        bool(chosen.get("virtual_host", False)),
        *(chosen.get(name) for name in _TEXTS),
        (bytes_of(whole, "whole") or -1) if (whole := chosen.get("whole")) is not None else 0,
        bool(chosen.get("any_address", False)),
    )
