package ebbtide;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.java.function.VoidFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.immutable.Seq;

/**
 * A sink that hands the parcels of a batch to Python, in a file and with one call.
 *
 * foreachBatch makes a second DataFrame of a batch, Python asks for its rows in a dozen calls, and
 * Spark plans them again. Here the plan that Spark has made for the batch is run as it is.
 *
 * Rows are (stream, parcel). The file, the same for every batch, has for each of them the length
 * of the stream's name, the name, the length of the parcel and the parcel. Whoever is known under
 * the name of the option `taker` is then called with the number of the batch.
 */
public final class ParcelSink implements StreamSinkProvider {
    private static final Map takers = new ConcurrentHashMap();

    public static void know(String name, VoidFunction taker) {
        takers.put(name, taker);
    }

    public Sink createSink(
        SQLContext context, scala.collection.immutable.Map options, Seq columns, OutputMode mode) {
        VoidFunction taker = (VoidFunction) takers.remove(options.apply("taker"));
        return new Taking((String) options.apply("file"), taker);
    }

    private static final class Taking implements Sink {
        private final String file;
        private final VoidFunction taker;

        Taking(String file, VoidFunction taker) {
            this.file = file;
            this.taker = taker;
        }

        public void addBatch(long number, Dataset batch) {
            try {
                write(batch.queryExecution().executedPlan().executeCollect());
                taker.call(Long.valueOf(number));
            } catch (RuntimeException error) {
                throw error;
            } catch (Exception error) {
                throw new RuntimeException(error);
            }
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
}
