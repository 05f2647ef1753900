import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, so that no test waits for a disk. */
const IN_MEMORY = '/dev/shm';

/** Databases of parallel files may use up to a quarter of this. */
const ROOM_BYTES = 4 * 2 ** 30;

/** Makes the folder for the files that a run shares and writes. It is removed when this process exits. */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(hasRoomInMemory() ? IN_MEMORY : tmpdir(), 'isolayer-test-'));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

function hasRoomInMemory(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    accessSync(IN_MEMORY, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    // The folder does not exist, or is not accessible.
    return false;
  }
}
