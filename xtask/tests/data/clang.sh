#!/bin/sh
for word in "$@"; do
    if [ "$word" = --version ]; then echo "clang version 99"; exit 0; fi
    last=$word
done
if grep -q '?' "$last"; then
    echo "$last:7:5: error: expected ';' after expression" >&2
    echo "    x = ?" >&2
    exit 1
fi
echo "// compiled $last"
