"""Joins what `v13` measured into the records that the book's chapter on the whole process reads.

    python3 process.py FOLDER [h200]

A file of the folder replaces its part of the record beside this script, and parts without a file stay:
`measure.json`, `measure-warm.json` (a later process) and `measure-nocache.json` (CUDA_CACHE_DISABLE=1) from
`v13 measure --json`, `run.json`, `run4.json`, `run16.json` (with that many `--chunks`), `tiles.json` and `tiles2.json`
(16384 with `--memory 1G` and `300M`) from `v13 run --json`, and `two.json` from `v13 two --json`, whose sizes
`two16.json` (16384) adds to; its links are left out.
"""

import json
import pathlib
import sys

COMPARISONS = ["run", "run4", "run16", "tiles", "tiles2"]
# Only of these are time lines read.
WITH_EVENTS = {"run"}


def rounded(value):
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, list):
        return [rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return value


def line(value):
    return json.dumps(rounded(value), ensure_ascii=False, separators=(",", ":"))


def lines(values):
    return "[\n" + ",\n".join(values) + "\n]"


def sizes(found, ways):
    """One line for each way."""
    out = []
    for size in found:
        rest = [f'"{key}":{line(value)}' for key, value in size.items() if key != ways]
        out.append("{" + ",".join(rest) + f',"{ways}":' + lines([line(way) for way in size[ways]]) + "}")
    return lines(out)


def comparison(name, one):
    for size in one["sizes"]:
        for way in size["variants"]:
            if name not in WITH_EVENTS:
                way["events"] = []
    head = [f'"name":"{name}"']
    if "run" in one:
        head.append(f'"run":{line(one["run"])}')
    head.append(f'"chunks":{one["chunks"]}')
    return "{" + ",".join(head) + ',"sizes":' + sizes(one["sizes"], "variants") + "}"


def process(folder, path):
    record = json.loads(path.read_text()) if path.is_file() else {"comparisons": []}
    load = lambda name: json.loads((folder / f"{name}.json").read_text())
    has = lambda name: (folder / f"{name}.json").is_file()
    from_ptx = lambda name: [one for one in load(name)["measured"] if one["what"] == "a module from PTX"]
    if has("measure"):
        record["run"], record["measured"] = load("measure")["run"], load("measure")["measured"]
    if has("measure-warm"):
        record["later_process"] = from_ptx("measure-warm")
    if has("measure-nocache"):
        record["without_cache"] = from_ptx("measure-nocache")
    before = {one.get("name", name): one for one, name in zip(record["comparisons"], COMPARISONS)}
    after = {name: load(name) if has(name) else before.get(name) for name in COMPARISONS}
    parts = [f'"run":{line(record["run"])}']
    for part in ["measured", "later_process", "without_cache"]:
        parts.append(f'"{part}":' + lines([line(one) for one in record[part]]))
    parts.append('"comparisons":' + lines([comparison(name, one) for name, one in after.items() if one]))
    path.write_text("{" + ",\n".join(parts) + "}\n")


def two(folder, path):
    record = json.loads((folder / "two.json").read_text())
    more = folder / "two16.json"
    if more.is_file():
        more = json.loads(more.read_text())
        record["sizes"] += more["sizes"]
    for size in record["sizes"]:
        for way in size["ways"]:
            # The time line of one size is drawn.
            if size["shape"]["k"] != 8192:
                way["events"] = []
    parts = [f'"{key}":{line(value)}' for key, value in record.items() if key not in ("links", "sizes")]
    parts.append('"links":' + lines([line(one) for one in record["links"]]))
    parts.append('"sizes":' + sizes(record["sizes"], "ways"))
    path.write_text("{" + ",\n".join(parts) + "}\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    device = sys.argv[2] if len(sys.argv) > 2 else "h200"
    here = pathlib.Path(__file__).parent
    process(folder, here / f"{device}-process.json")
    if (folder / "two.json").is_file():
        two(folder, here / f"{device}-two.json")


main()
