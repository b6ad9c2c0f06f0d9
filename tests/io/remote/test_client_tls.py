# SPDX-License-Identifier: MIT
"""What TLS adds to the client: certificates are verified, https does not become http, and tokens do not leave by a redirect."""
from pathlib import Path

import numpy as np
from support import http_faults as faults
from support.http_server import HttpServer
from taking import Asked, Known

KNOWN = Known(2000, 512)
IDS = np.array([1999, 3, 700])
ASKED = Asked(connections=2, timeout=6, gap=0)
PATH = "/table.npy"


def trusting(name: Path) -> dict[str, str]:
    """Both variables that the command reads: the machine may have one of them."""
    return {"CURL_CA_BUNDLE": str(name), "SSL_CERT_FILE": str(name)}


def test_a_redirect_to_another_host_with_tls(command, authority):
    environment = trusting(authority.certificate)
    with HttpServer({PATH: KNOWN.content}, tls=authority, names=["127.0.0.1"]) as other:
        with HttpServer({}, tls=authority, names=["localhost"]) as server:
            server.fault(faults.redirect(other.url(PATH)))
            outcome = command(server.url(PATH), IDS, ASKED, environment=environment)
            assert np.array_equal(outcome.rows, KNOWN.expected(IDS)), outcome.text
            assert server.requests == 1 and other.requests >= 2


def test_https_never_leads_to_http(command, authority):
    environment = trusting(authority.certificate)
    with HttpServer({PATH: KNOWN.content}) as plain, HttpServer({}, tls=authority, names=["localhost"]) as server:
        server.fault(faults.redirect(plain.url(PATH)))
        outcome = command(server.url(PATH), IDS, ASKED, environment=environment)
        assert outcome.rows is None and "a redirect from https to http is not followed" in outcome.message
        assert plain.requests == 0 and server.requests == 1


def test_a_certificate_for_another_name(command, authority):
    environment = trusting(authority.certificate)
    with HttpServer({PATH: KNOWN.content}, tls=authority, names=["other.test"]) as server:
        outcome = command(f"https://localhost:{server.port}{PATH}", IDS, ASKED, environment=environment)
        assert outcome.rows is None and outcome.error["status"] == "io_error", outcome.text
        assert "SSL" in outcome.message or "certificate" in outcome.message
        assert server.requests == 0
        # The certificate has this address.
        outcome = command(f"https://127.0.0.1:{server.port}{PATH}", IDS, ASKED, environment=environment)
        assert np.array_equal(outcome.rows, KNOWN.expected(IDS)), outcome.text


def test_a_file_of_authorities_that_is_none(command, authority, tmp_path):
    damaged = tmp_path / "damaged.pem"
    damaged.write_text("no certificate")
    with HttpServer({PATH: KNOWN.content}, tls=authority, names=["localhost"]) as server:
        for name in (damaged, tmp_path / "absent.pem"):
            outcome = command(server.url(PATH), IDS, ASKED, environment=trusting(name))
            assert outcome.rows is None and outcome.error["status"] == "io_error", outcome.text
        assert server.requests == 0
