import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Keeps the packages once, before any test starts a service. Otherwise each of the hundreds of services would try to.
 */
export async function keepPackages(root: string): Promise<void> {
  const program = join(root, 'src', 'loading', 'keep-packages.ts');
  // If nothing can be written, services start without kept packages.
  await promisify(execFile)(process.execPath, [program], { env: {} }).catch(() => undefined);
}
