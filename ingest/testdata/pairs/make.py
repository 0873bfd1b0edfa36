# Writes the files of this directory: the same 300 rows, in the shape of Google Analytics' export to BigQuery, by
# several programs. Needs pyarrow, duckdb and polars from PyPI.
import json, sys
import duckdb, polars
import pyarrow as pa, pyarrow.parquet as pq

value = [("string_value", pa.string()), ("int_value", pa.int64()), ("float_value", pa.float64()), ("double_value", pa.float64())]
schema = pa.schema([
    ("event_timestamp", pa.int64()),
    ("event_name", pa.string()),
    ("event_params", pa.list_(pa.struct([("key", pa.string()), ("value", pa.struct(value))]))),
    ("user_id", pa.string()),
])


def pair(key, **set):
    return {"key": key, "value": {name: set.get(name) for name, _ in value}}


def params(i):
    if i % 13 == 5:
        return None
    if i % 11 == 3:
        return []
    all = [pair("ga_session_id", int_value=i * 7), pair("page_referrer", string_value=f"https://from.example/{i % 5}")]
    if i % 7 != 2:
        all.insert(i % 3, pair("page_location", string_value=f"https://www.example.com/page/{i}?q=\u00e4"))
    if i % 17 == 4:  # the last counts
        all.append(pair("page_location", string_value=f"https://www.example.com/again/{i}"))
    if i % 4 == 1:
        all.append(pair("score", double_value=i / 8))
    return all + [pair(f"other_{k}", string_value="x" * k) for k in range(i % 9)]


rows = [{"event_timestamp": 1767225600000000 + i * 1000000, "event_name": "page_view", "event_params": params(i), "user_id": f"u{i % 3}"} for i in range(300)]


def bare(v):  # as BigQuery writes JSON: without nulls, and whole numbers in quotes
    if isinstance(v, dict):
        return {k: bare(x) for k, x in v.items() if x is not None}
    if isinstance(v, list):
        return [bare(x) for x in v]
    return str(v) if isinstance(v, int) else v


with open("rows.jsonl", "w") as f:
    for row in rows:
        f.write(json.dumps(bare(row)) + "\n")
table = pa.Table.from_pylist(rows, schema=schema)
common = dict(row_group_size=110, data_page_size=900, write_batch_size=16)
pq.write_table(table, "pyarrow-v1.parquet", compression="snappy", **common)
pq.write_table(table, "pyarrow-v2.parquet", compression="zstd", data_page_version="2.0", write_page_checksum=True, use_dictionary=False, **common)
duck = duckdb.connect()
duck.register("t", table)
duck.execute("copy t to 'duckdb.parquet' (format parquet)")
polars.from_arrow(table).write_parquet("polars.parquet", compression="gzip", row_group_size=110, data_page_size=900)
print(sys.version.split()[0], pa.__version__, duckdb.__version__, polars.__version__)
