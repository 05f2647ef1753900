import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { setPriority, constants as system } from 'node:os';
import { join } from 'node:path';
import { INSTALLED, NODE_MODULES } from './kept-packages.ts';

/**
 * Starts another process that bundles the packages for the next start. That process ends with this one. Nothing waits
 * for it.
 */
export function keepLater(): void {
  if (!canKeep()) return;
  const program = join(import.meta.dirname, 'keep-packages.ts');
  const keeping = spawn(process.execPath, [program], { env: {}, stdio: 'ignore' });
  // Without the process, the next start is as slow as this one.
  keeping.on('error', () => undefined).unref();
  if (keeping.pid === undefined) return;
  process.once('exit', () => keeping.kill('SIGKILL'));
  // The work of the service has priority.
  setPriority(keeping.pid, system.priority.PRIORITY_LOW);
}

/**
 * Whether the bundles can be stored. In an image, for instance, they cannot, and each start would build them for
 * nothing.
 */
function canKeep(): boolean {
  try {
    accessSync(NODE_MODULES, constants.W_OK);
    accessSync(join(NODE_MODULES, INSTALLED));
    return true;
  } catch {
    return false;
  }
}
