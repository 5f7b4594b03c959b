package ebbtide;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local file system, without its forks.
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
    }

    private static final class Raw extends RawLocalFileSystem {
        public void setPermission(Path path, FsPermission permission) throws IOException {
            String mode = permission.getUserAction().SYMBOL
                + permission.getGroupAction().SYMBOL
                + permission.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(
                pathToFile(path).toPath(), PosixFilePermissions.fromString(mode));
        }

        /** Links are followed: a checkpoint has none. */
        public FileStatus getFileLinkStatus(Path path) throws IOException {
            return getFileStatus(path);
        }
    }
}
