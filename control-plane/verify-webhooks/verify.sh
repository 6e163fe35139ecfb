#!/bin/sh
# Checks the signature of a webhook of Adsweep with openssl: to look at a request that was saved, not for a server.
#   WEBHOOK_SECRET=whsec_... sh verify.sh <webhook-id> <webhook-timestamp> <webhook-signature> < body
# And a signed request of your own, to try a receiver with curl:
#   WEBHOOK_SECRET=whsec_... sh verify.sh sign <webhook-id> < body
#   curl -H "webhook-id: $id" -H "webhook-timestamp: $timestamp" -H "webhook-signature: $signature" --data-binary @body $url
set -eu
tolerance=300

# The signature of standard input, after "<id>.<timestamp>.".
signature() {
  key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
  printf 'v1,'
  { printf '%s.%s.' "$1" "$2"; cat; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A
}

if [ "$1" = sign ]; then
  timestamp=$(date +%s)
  echo "timestamp=$timestamp signature=$(signature "$2" "$timestamp")"
  exit
fi
age=$(($(date +%s) - $2))
[ "${age#-}" -le "$tolerance" ] || { echo 'too old, or the clocks differ' >&2; exit 1; }
expected=$(signature "$1" "$2")
for one in $3; do [ "$one" = "$expected" ] && { echo 'signed by this secret'; exit; }; done
echo 'not signed by this secret' >&2
exit 1
