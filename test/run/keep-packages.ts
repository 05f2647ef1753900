import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Has the packages kept before the first service starts: each of the hundreds would have to, until one lived so long. */
export async function keepPackages(root: string): Promise<void> {
  const program = join(root, 'src', 'loading', 'keep-packages.ts');
  // Where nothing can be written, all start without.
  await promisify(execFile)(process.execPath, [program], { env: {} }).catch(() => undefined);
}
