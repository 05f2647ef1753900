import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Linux keeps what lies here in memory: no test waits for a disk, and none of this has to outlive the machine. */
const IN_MEMORY = '/dev/shm';

/** The databases of three files at once may grow to a quarter of this. */
const ROOM_BYTES = 4 * 2 ** 30;

/** Makes the folder in which a run keeps what its files share and write; it goes with this process. */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(hasRoomInMemory() ? IN_MEMORY : tmpdir(), 'isolayer-test-'));
  // PostgreSQL works in it as another user.
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
    // It is not there, or not for us.
    return false;
  }
}
