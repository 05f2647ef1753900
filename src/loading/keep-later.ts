import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { setPriority, constants as system } from 'node:os';
import { join } from 'node:path';
import { INSTALLED, NODE_MODULES } from './kept-packages.ts';

/** Has another process keep the packages, for the next start. It ends with this one, and nobody waits for it. */
export function keepLater(): void {
  if (!canKeep()) return;
  const program = join(import.meta.dirname, 'keep-packages.ts');
  const keeping = spawn(process.execPath, [program], { env: {}, stdio: 'ignore' });
  // The system has no process to give: the next start is as slow as this one.
  keeping.on('error', () => undefined).unref();
  if (keeping.pid === undefined) return;
  process.once('exit', () => keeping.kill('SIGKILL'));
  // All that the service does comes first.
  setPriority(keeping.pid, system.priority.PRIORITY_LOW);
}

/** In an image, for instance, each start would bundle them in vain. */
function canKeep(): boolean {
  try {
    accessSync(NODE_MODULES, constants.W_OK);
    accessSync(join(NODE_MODULES, INSTALLED));
    return true;
  } catch {
    return false;
  }
}
