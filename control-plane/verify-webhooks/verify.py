"""Checks the signature of a webhook of Adsweep in Python 3, without packages."""

import base64
import hashlib
import hmac
import json
import time

TOLERANCE_SECONDS = 300


def verify_webhook(secret, headers, body, now=None):
    """Returns the event of a request. Raises ValueError unless one of its signatures is by the secret, and it is at most five minutes old.

    secret: the endpoint's (whsec_...). headers: of the request, lower-case names. body: its bytes as they arrived.
    """
    webhook_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not webhook_id or not timestamp.isdecimal() or not signatures:
        raise ValueError("no signature")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("too old, or the clocks differ")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(one.encode(), expected.encode()) for one in signatures.split(" ")):
        raise ValueError("not signed by this secret")
    return json.loads(body)
