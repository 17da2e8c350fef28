#!/bin/sh
here=$(dirname "$0")
echo "$*" > "$here/asked"
case " $* " in *" --explain "*)
    for word in "$@"; do case "$word" in *.ptx) ptx=$word ;; esac; done
    case "$ptx" in
    */my/*) cat "$here/yours.json" 2>/dev/null || exit 3 ;;
    *) cat "$here/finished.json" 2>/dev/null || exit 3 ;;
    esac
    exit 0 ;;
esac
cat "$here/verdict.json" 2>/dev/null || exit 3
if grep -q '"status":"passed","parts"' "$here/verdict.json"; then exit 0; else exit 1; fi
