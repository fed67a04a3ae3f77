"""A process to be killed: it learns from the files of a stream, one file a batch, into a folder.

In one batch it says so, before or after it has written what the batch gives, and waits to be killed.
"""

import sys
from pathlib import Path

import fleets

from holdfast.spark import Fleet


def main(folder, cores, stop, after):
    folder = Path(folder)
    spark = fleets.session(folder / "tmp", cores)
    schema = spark.read.parquet(str(folder / "in")).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    fleet = Fleet(**fleets.COLUMNS, groups=4, pages=2)

    def write(df, number):  # the same batch again replaces what it wrote before
        if number == stop and not after:
            wait()
        df.write.mode("overwrite").parquet(str(folder / "out" / f"batch={number}"))
        if number == stop:
            wait()

    writer = fleet.learn(stream).writeStream.foreachBatch(write)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    writer.start().awaitTermination()
    spark.stop()


def wait():
    print("\ninside", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "after")
