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
import org.apache.spark.api.java.function.VoidFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.python.MapInArrowExec;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.math.BigInt;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/**
 * A sink that hands the parcels of a batch to Python, in a file and with one call.
 *
 * foreachBatch makes a second DataFrame of a batch, Python asks for its rows in a dozen calls, and
 * Spark plans them again. Here the plan that Spark has made for the batch is run as it is; or the
 * parts of it that come before parsers, if that are no more bytes than the option `few` says:
 * a worker would take longer to be told of them than Python to parse them.
 *
 * The file, the same for every batch, begins with a byte, 1 for documents and 0 for parcels. Rows
 * follow, (path, content) or (stream, parcel): of each value the length and the bytes. Whoever is
 * known under the name of the option `taker` is then called with the number of the batch.
 */
public final class ParcelSink implements StreamSinkProvider {
    private static final Map takers = new ConcurrentHashMap();

    public static void know(String name, VoidFunction taker) {
        takers.put(name, taker);
    }

    public Sink createSink(
        SQLContext context, scala.collection.immutable.Map options, Seq columns, OutputMode mode) {
        VoidFunction taker = (VoidFunction) takers.remove(options.apply("taker"));
        BigInt few = BigInt.apply((String) options.apply("few"));
        return new Taking((String) options.apply("file"), few, taker);
    }

    private static final class Taking implements Sink {
        private final String file;
        private final BigInt few;
        private final VoidFunction taker;

        Taking(String file, BigInt few, VoidFunction taker) {
            this.file = file;
            this.few = few;
            this.taker = taker;
        }

        public void addBatch(long number, Dataset batch) {
            SparkPlan plan = batch.queryExecution().executedPlan();
            BigInt size = batch.queryExecution().optimizedPlan().stats().sizeInBytes();
            boolean areFew = size.$less$eq(few);
            try {
                ArrayList parts = new ArrayList();
                if (areFew) {
                    findUnparsed(plan, parts);
                } else {
                    parts.add(plan);
                }
                write(areFew, parts);
                taker.call(Long.valueOf(number));
            } catch (RuntimeException error) {
                throw error;
            } catch (Exception error) {
                throw new RuntimeException(error);
            }
        }

        /** What parsers would be given, those of each stream that brought something. */
        private static void findUnparsed(SparkPlan plan, ArrayList found) {
            for (int each = 0; each < plan.children().size(); each++) {
                SparkPlan child = (SparkPlan) plan.children().apply(each);
                if (plan instanceof MapInArrowExec) {
                    found.add(child);
                } else {
                    findUnparsed(child, found);
                }
            }
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

        private void write(boolean areDocuments, ArrayList plans) throws Exception {
            DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(new FileOutputStream(file)));
            try {
                out.writeBoolean(areDocuments);
                for (int plan = 0; plan < plans.size(); plan++) {
                    InternalRow[] rows = rows((SparkPlan) plans.get(plan));
                    for (int each = 0; each < rows.length; each++) {
                        put(out, rows[each].getUTF8String(0).getBytes());
                        put(out, rows[each].getBinary(1));
                    }
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
