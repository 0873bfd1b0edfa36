"""Add a day's verdicts to an Iceberg or Delta table, or replace them.

If it is stopped, the table has either all of them or is unchanged: run it again.

    spark-submit --packages org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0 \
        --conf spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog \
        --conf spark.sql.catalog.lake.type=hadoop --conf spark.sql.catalog.lake.warehouse=/data/lake \
        tables.py iceberg lake.crawl.verdicts 2026-01-02 /data/logs/2026-01-02 /data/rules.rbp

    spark-submit --packages io.delta:delta-spark_4.1_2.13:4.4.0 \
        --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension \
        --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
        tables.py delta /data/lake/verdicts 2026-01-02 /data/logs/2026-01-02 /data/rules.rbp
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import robobatch.spark

kind, table, day, log, rules = sys.argv[1:]
spark = SparkSession.builder.appName(f"verdicts of {day}").getOrCreate()
pack = robobatch.spark.ship(spark, rules)
columns = ["allowed", "reason", "rule_line", "rule"]
rows = robobatch.spark.with_verdicts(spark.read.parquet(log), rules=pack, columns=columns)
# Or, if shards of the command have written them: rows = spark.read.parquet("/data/out/2026-01-02")
rows = rows.withColumn("day", f.lit(day).cast("date"))
if kind == "delta":
    write = rows.write.format("delta").partitionBy("day").mode("overwrite")
    write.option("replaceWhere", f"day = '{day}'").save(table)
elif spark.catalog.tableExists(table):
    rows.writeTo(table).overwrite(f.col("day") == f.lit(day).cast("date"))  # also if the day has no rows now
else:  # all rows have the same day; sorting by it would cost a shuffle
    writer = rows.writeTo(table).using("iceberg").partitionedBy(f.col("day"))
    writer.tableProperty("write.distribution-mode", "none").create()
