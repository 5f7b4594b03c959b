package ebbtide;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.immutable.Seq;

/**
 * A sink that hands parcels to Python: a call for each, and one for the batch.
 *
 * foreachBatch makes a second DataFrame of a batch, Python asks for its rows in a dozen calls, and
 * Spark plans them again. Here the plan that Spark has made for the batch is run as it is.
 *
 * Rows are (stream, parcel). Batches are taken by whoever is known under the option `taker`:
 * call(stream, parcel) for each row, then call(null, number).
 */
public final class ParcelSink implements StreamSinkProvider {
    private static final Map takers = new ConcurrentHashMap();

    public static void know(String name, VoidFunction2 taker) {
        takers.put(name, taker);
    }

    public Sink createSink(
        SQLContext context, scala.collection.immutable.Map options, Seq columns, OutputMode mode) {
        return new Taking((VoidFunction2) takers.remove(options.apply("taker")));
    }

    private static final class Taking implements Sink {
        private final VoidFunction2 taker;

        Taking(VoidFunction2 taker) {
            this.taker = taker;
        }

        public void addBatch(long number, Dataset batch) {
            try {
                InternalRow[] rows = batch.queryExecution().executedPlan().executeCollect();
                for (int each = 0; each < rows.length; each++) {
                    taker.call(rows[each].getString(0), rows[each].getBinary(1));
                }
                taker.call(null, Long.valueOf(number));
            } catch (RuntimeException error) {
                throw error;
            } catch (Exception error) {
                throw new RuntimeException(error);
            }
        }
    }
}
