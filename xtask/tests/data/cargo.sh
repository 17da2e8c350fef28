#!/bin/sh
here=$(dirname "$0")
if [ -n "$FAKE_BUILD" ]; then echo "error: expected one of" >&2; exit 101; fi
for word in "$@"; do
    if [ -f "$here/$word" ]; then echo "{\"target\": {\"name\": \"$word\"}, \"executable\": \"$here/$word\"}"; fi
done
