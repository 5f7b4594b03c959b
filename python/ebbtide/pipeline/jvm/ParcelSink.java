package ebbtide;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.LocalTableScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.binaryfile.BinaryFileFormat;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/**
 * A sink that hands the parcels of a batch to Python, in a file and with one call.
 *
 * foreachBatch makes a second DataFrame of a batch, Python asks for its rows in a dozen calls, and
 * Spark plans them again. Here the plan that Spark has made for the batch is run as it is.
 *
 * Whoever is known under the name of the option `taker` is first called with the number of the
 * batch and what it reads, a line each: of a file that is read whole the URI, of a source with
 * offsets the two it is read between, with a tab, and of anything else its name in the plan. If
 * these are a few documents, Python takes them as they are, and nothing is run. Else it is called
 * again, with nothing, when the file has the parcels: rows of (stream, parcel), of each value the
 * length and the bytes.
 */
public final class ParcelSink implements StreamSinkProvider {
    private static final Map takers = new ConcurrentHashMap();

    public static void know(String name, Function2 taker) {
        takers.put(name, taker);
    }

    public Sink createSink(
        SQLContext context, scala.collection.immutable.Map options, Seq columns, OutputMode mode) {
        Function2 taker = (Function2) takers.remove(options.apply("taker"));
        return new Taking((String) options.apply("file"), taker);
    }

    private static final class Taking implements Sink {
        private final String file;
        private final Function2 taker;

        Taking(String file, Function2 taker) {
            this.file = file;
            this.taker = taker;
        }

        public void addBatch(long number, Dataset batch) {
            SparkPlan plan = batch.queryExecution().executedPlan();
            try {
                if (taker.call(Long.valueOf(number), described(plan)).equals(Boolean.TRUE)) {
                    count(plan);
                } else {
                    write(rows(plan));
                    taker.call(Long.valueOf(number), null);
                }
            } catch (RuntimeException error) {
                throw error;
            } catch (Exception error) {
                throw new RuntimeException(error);
            }
        }

        /** What a batch reads. */
        private static String described(SparkPlan plan) {
            StringBuilder lines = new StringBuilder();
            Seq leaves = plan.collectLeaves();
            for (int each = 0; each < leaves.size(); each++) {
                SparkPlan leaf = (SparkPlan) leaves.apply(each);
                if (isOfDocuments(leaf)) {
                    PartitionedFile[] files = files(leaf);
                    for (int file = 0; file < files.length; file++) {
                        lines.append(files[file].urlEncodedPath()).append('\n');
                    }
                } else if (leaf instanceof MicroBatchScanExec) {
                    MicroBatchScanExec scan = (MicroBatchScanExec) leaf;
                    lines.append(scan.start().json()).append('\t');
                    lines.append(scan.end().json()).append('\n');
                } else if (!isEmpty(leaf)) {
                    lines.append(leaf.nodeName()).append('\n');
                }
            }
            return lines.toString();
        }

        /** Let Spark know what was read without it: it asks its own plan for the rows. */
        private static void count(SparkPlan plan) {
            Seq leaves = plan.collectLeaves();
            for (int each = 0; each < leaves.size(); each++) {
                SparkPlan leaf = (SparkPlan) leaves.apply(each);
                if (!isEmpty(leaf)) {
                    int rows = isOfDocuments(leaf)
                        ? files(leaf).length
                        : ((MicroBatchScanExec) leaf).inputPartitions().size();
                    ((SQLMetric) leaf.metrics().apply("numOutputRows")).add(rows);
                }
            }
        }

        private static boolean isOfDocuments(SparkPlan leaf) {
            return leaf instanceof FileSourceScanExec
                && ((FileSourceScanExec) leaf).relation().fileFormat() instanceof BinaryFileFormat;
        }

        /** The files that Spark would read: not those that are empty. */
        private static PartitionedFile[] files(SparkPlan scan) {
            return ((FileSourceScanExec) scan).selectedPartitions().toPartitionArray();
        }

        /** A stream that brought nothing. */
        private static boolean isEmpty(SparkPlan leaf) {
            return leaf instanceof LocalTableScanExec
                && ((LocalTableScanExec) leaf).rows().isEmpty();
        }

        /**
         * The rows that a plan makes. What Spark itself calls for them has a closure, in which it
         * looks for what not to send to an executor for longer than it takes to read a small file.
         * An executor in another process does not know a class of ours.
         */
        private static InternalRow[] rows(SparkPlan plan) {
            SparkContext context = plan.sparkContext();
            if (!context.isLocal()) {
                return plan.executeCollect();
            }
            ClassTag kind = ClassTag$.MODULE$.apply(InternalRow[].class);
            Object[] parts = (Object[]) context.runJob(plan.execute(), new Copies(), kind);
            ArrayList rows = new ArrayList();
            for (int part = 0; part < parts.length; part++) {
                rows.addAll(Arrays.asList((InternalRow[]) parts[part]));
            }
            return (InternalRow[]) rows.toArray(new InternalRow[0]);
        }

        private void write(InternalRow[] rows) throws Exception {
            DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(new FileOutputStream(file)));
            try {
                for (int each = 0; each < rows.length; each++) {
                    put(out, rows[each].getUTF8String(0).getBytes());
                    put(out, rows[each].getBinary(1));
                }
            } finally {
                out.close();
            }
        }

        private static void put(DataOutputStream out, byte[] bytes) throws Exception {
            out.writeInt(bytes.length);
            out.write(bytes);
        }
    }

    /** The rows of a task, which come in one and the same object, as objects of their own. */
    public static final class Copies extends AbstractFunction2 implements Serializable {
        public Object apply(Object task, Object rows) {
            Iterator coming = (Iterator) rows;
            ArrayList copies = new ArrayList();
            while (coming.hasNext()) {
                copies.add(((InternalRow) coming.next()).copy());
            }
            return copies.toArray(new InternalRow[0]);
        }
    }
}
