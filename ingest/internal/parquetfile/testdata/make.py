# Writes the Parquet files of this directory: the same rows by several programs. Needs pyarrow, duckdb,
# polars, fastparquet and pandas from PyPI. See README.md for the versions.
import datetime, sys
import duckdb, fastparquet, polars
import pyarrow as pa, pyarrow.parquet as pq

n = 400
start = datetime.datetime(2026, 1, 31, 18, tzinfo=datetime.timezone.utc)
table = pa.table({
    "url": pa.array([None if i % 10 == 3 else "" if i % 50 == 4 else f"https://www.example.com/page/{i // 7}/{i}" for i in range(n)], pa.string()),
    "host": pa.array([f"host{i // 90}.example" for i in range(n)], pa.string()),
    "status": pa.array([None if i % 7 == 2 else 200 + i % 3 for i in range(n)], pa.int32()),
    "size": pa.array([i * i * 1000003 - 5 for i in range(n)], pa.int64()),
    "score": pa.array([i / 8 for i in range(n)], pa.float64()),
    "ratio": pa.array([i / 4 for i in range(n)], pa.float32()),
    "ok": pa.array([i % 3 == 0 for i in range(n)], pa.bool_()),
    "at": pa.array([start + datetime.timedelta(seconds=i) for i in range(n)], pa.timestamp("us", "UTC")),
})
flat = dict(use_dictionary=False)
common = dict(row_group_size=150, data_page_size=600, write_batch_size=32)
pq.write_table(table, "pyarrow-plain.parquet", compression="none", **flat, **common)
pq.write_table(table, "pyarrow-dict.parquet", compression="snappy", **common)
pq.write_table(table, "pyarrow-crc.parquet", compression="none", write_page_checksum=True, **common)
pq.write_table(table, "pyarrow-v2.parquet", compression="snappy", data_page_version="2.0", write_page_checksum=True, use_dictionary=["host"],
    column_encoding={"url": "DELTA_BYTE_ARRAY", "status": "DELTA_BINARY_PACKED", "size": "DELTA_BINARY_PACKED", "score": "BYTE_STREAM_SPLIT", "ratio": "BYTE_STREAM_SPLIT", "ok": "RLE", "at": "PLAIN"}, **common)
pq.write_table(table, "pyarrow-lengths.parquet", compression="brotli", write_page_checksum=True, column_encoding={"url": "DELTA_LENGTH_BYTE_ARRAY", "host": "DELTA_LENGTH_BYTE_ARRAY"}, **flat, **common)
pq.write_table(table, "pyarrow-gzip.parquet", compression="gzip", **common)
pq.write_table(table, "pyarrow-int96.parquet", compression="zstd", use_deprecated_int96_timestamps=True, **common)
duck = duckdb.connect()
duck.execute("set timezone = 'UTC'")
duck.register("t", table)
duck.execute("copy t to 'duckdb-snappy.parquet' (format parquet, row_group_size 2048)")
duck.execute("copy t to 'duckdb-v2.parquet' (format parquet, parquet_version 'v2', compression zstd)")
polars.from_arrow(table).write_parquet("polars.parquet", compression="snappy", row_group_size=150, data_page_size=600)
fastparquet.write("fastparquet.parquet", table.to_pandas(), compression="SNAPPY", row_group_offsets=150)
print(sys.version.split()[0], pa.__version__, duckdb.__version__, polars.__version__, fastparquet.__version__)
