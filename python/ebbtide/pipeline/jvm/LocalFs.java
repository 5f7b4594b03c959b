package ebbtide;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local file system, without its forks, and with an order.
 *
 * Where its native library is absent, Hadoop starts `chmod` for each file that is made, and
 * `readlink` twice for each that is renamed. A process can do both for itself.
 *
 * This is for `fs.AbstractFileSystem.file.impl`, the interface that checkpoints use: raw, that is
 * without a file of checksums beside each file, since Spark keeps checksums of its own.
 */
public final class LocalFs extends DelegateToFileSystem {
    public LocalFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
        super(uri, new Raw(), conf, "file", false);
    }

    public int getUriDefaultPort() {
        return -1;
    }

    /** Whatever the system allows. */
    public boolean isValidName(String source) {
        return true;
    }

    /** For `fs.file.impl`, of which state stores ask that it is not raw. */
    public static final class Checked extends LocalFileSystem {
        public Checked() {
            super(new Raw());
        }

        /** Of a file such as `12:30.tnt`, too, whose name is no path as it is. */
        public Path getChecksumFile(Path file) {
            return new Path(file.getParent(), new Path(null, null, "." + file.getName() + ".crc"));
        }
    }

    private static final class Raw extends RawLocalFileSystem {
        public void setPermission(Path path, FsPermission permission) throws IOException {
            String mode = permission.getUserAction().SYMBOL
                + permission.getGroupAction().SYMBOL
                + permission.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(
                pathToFile(path).toPath(), PosixFilePermissions.fromString(mode));
        }

        /**
         * By name, which Java's folders are not. Spark reads the files of a stream in the order of
         * their times, and those of one millisecond as they are listed.
         */
        public FileStatus[] listStatus(Path path) throws IOException {
            FileStatus[] found = super.listStatus(path);
            Arrays.sort(found, new Comparator() {
                public int compare(Object one, Object other) {
                    return name(one).compareTo(name(other));
                }

                private String name(Object status) {
                    return ((FileStatus) status).getPath().getName();
                }
            });
            return found;
        }

        /** Links are followed: a checkpoint has none. */
        public FileStatus getFileLinkStatus(Path path) throws IOException {
            return getFileStatus(path);
        }
    }
}
